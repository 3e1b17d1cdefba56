-- Removes a record, once per op-id.
-- KEYS: record, op, version, index of records, [lease] | ARGV: how long to remember the op (ms), fence or '', name of the record, expect
local rows = redis.call('MGET', unpack(KEYS, 2))
--> once
--> expected
if not met or not from then return { 'conflict', name, redis.call('GET', KEYS[1]) or '' } end
redis.call('ZREM', KEYS[4], name)
redis.call('DEL', KEYS[1])
local report = string.format('%d\n', now) .. name .. '\n' .. from .. '\n\n'
redis.call('SET', KEYS[2], report, 'PX', ARGV[1])
return { 'applied', '0', report }
