-- Adds to a number, once per op-id, unless it would fall below the floor.
-- KEYS: op, version, record, [lease] | ARGV: fingerprint, name of the record, delta, floor or '', [fence]
local name, fence = ARGV[2], ARGV[5]
local rows = redis.call('MGET', unpack(KEYS))
--> once
--> added
local from, sum, refusal = added(name, KEYS[3], rows[3], ARGV[3], ARGV[4])
if refusal then return refusal end
redis.call('MSET', KEYS[2], to, KEYS[3], to .. 'n' .. sum)
local report = ARGV[1] .. '\n' .. at .. '\n' .. name .. '\n' .. from .. '\n' .. to .. '\n' .. sum
redis.call('SET', KEYS[1], report, 'PX', remember)
return report
