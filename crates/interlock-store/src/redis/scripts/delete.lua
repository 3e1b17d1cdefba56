-- Removes a record, once per op-id.
-- KEYS: op, version, [lease], record, index of records | ARGV: fingerprint, name of the record, expect, [fence]
local name, expect, fence = ARGV[2], ARGV[3], ARGV[4]
local key, index = KEYS[#KEYS - 1], KEYS[#KEYS]
local rows = redis.call('MGET', unpack(KEYS, 1, #KEYS - 2))
--> once
-- Only its beginning is read: the content may be large, and matters only to whoever is refused.
local record = redis.call('GETRANGE', key, '0', '16')
record = record ~= '' and record
--> expected
if not met or not from then return 'conflict\n' .. name .. '\n' .. (redis.call('GET', key) or '') end
redis.call('ZREM', index, name)
redis.call('DEL', key)
local report = ARGV[1] .. '\n' .. at .. '\n' .. name .. '\n' .. from .. '\n\n'
redis.call('SET', KEYS[1], report, 'PX', remember)
return report
