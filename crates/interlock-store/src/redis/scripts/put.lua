-- Writes a record, once per op-id.
-- KEYS: op, version, record, [lease], index of records
-- ARGV: fingerprint, name of the record, expect, what is stored behind its version, [fence]
local name, expect, content, fence = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local large, rows, record = #content > 10000
if large then
  -- What is there may be as large. Of that only the beginning is read, which matters to everybody.
  rows = redis.call('MGET', KEYS[1], KEYS[2], unpack(KEYS, 4, #KEYS - 1))
  record = redis.call('GETRANGE', KEYS[3], '0', '16')
  record = record ~= '' and record
else
  rows = redis.call('MGET', unpack(KEYS, 1, #KEYS - 1))
  record = rows[3]
end
--> once
--> expected
if not met then return 'conflict\n' .. name .. '\n' .. (large and redis.call('GET', KEYS[3]) or record or '') end
if not from then
  -- Something that is no string was passed over as if it were not there; this is not, and ends the script. So does the next, if a stranger
  -- has put something else in the index's place.
  redis.call('STRLEN', KEYS[3])
  redis.call('ZADD', KEYS[#KEYS], '0', name)
  from = ''
end
if large then
  -- To join two large texts takes Lua longer than the server.
  redis.call('MSET', KEYS[2], to, KEYS[3], to)
  redis.call('APPEND', KEYS[3], content)
else
  redis.call('MSET', KEYS[2], to, KEYS[3], to .. content)
end
local report = ARGV[1] .. '\n' .. at .. '\n' .. name .. '\n' .. from .. '\n' .. to .. '\n'
if string.byte(content) == 110 then report = report .. string.sub(content, 2) end
redis.call('SET', KEYS[1], report, 'PX', remember)
return report
