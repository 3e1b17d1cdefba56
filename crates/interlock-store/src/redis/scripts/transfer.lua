-- Moves an amount from one number to another, once per op-id.
-- KEYS: op, version, record, other record, [lease]
-- ARGV: fingerprint, name of the record, name of the other, amount, floor, [fence]
local name, other, amount, fence = ARGV[2], ARGV[3], ARGV[4], ARGV[6]
local rows = redis.call('MGET', unpack(KEYS))
--> once
--> added
if amount == '0' or string.byte(amount) == 45 then return 'not-a-number\n' .. name end
local from, rest, refusal = added(name, KEYS[3], rows[3], '-' .. amount, ARGV[5])
if refusal then return refusal end
local report = ARGV[1] .. '\n' .. at .. '\n' .. name .. '\n' .. from .. '\n' .. to .. '\n'
if other == name then
  local number = string.sub(rows[3], 18)
  redis.call('MSET', KEYS[2], to, KEYS[3], to .. 'n' .. number)
  report = report .. number
else
  local from_other, sum, refused = added(other, KEYS[4], rows[4], amount, '')
  if refused then return refused end
  local to_other = string.format('%016d', to + 1)
  redis.call('MSET', KEYS[2], to_other, KEYS[3], to .. 'n' .. rest, KEYS[4], to_other .. 'n' .. sum)
  report = report .. rest .. '\n' .. other .. '\n' .. from_other .. '\n' .. to_other .. '\n' .. sum
end
redis.call('SET', KEYS[1], report, 'PX', remember)
return report
