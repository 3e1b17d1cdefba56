-- Whether the record is as expected. Only its beginning is read: the content may be large, and matters only to whoever is refused.
local name, expect, record = ARGV[3], ARGV[4], redis.call('GETRANGE', KEYS[1], '0', '21')
local from = record ~= '' and assert(string.match(record, '^(%d+) [nb]'))
local met = expect == 'any'
if expect == 'absent' then
  met = not from
elseif not met then
  met = from and (expect == 'present' or expect == from)
end
