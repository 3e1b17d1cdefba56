-- Adds to a number, once per op-id, unless it would fall below the floor.
-- KEYS: op, version, record, [lease]
-- ARGV: how long to remember the op (ms), fence or '', name of the record, delta, floor or ''
local rows = redis.call('MGET', unpack(KEYS))
--> once
--> added
local name, delta, floor = ARGV[3], ARGV[4], nil
-- Only a debit has a floor.
if ARGV[5] ~= '' and string.sub(delta, 1, 1) == '-' then floor = ARGV[5] end
local from, sum, refusal = added(name, KEYS[3], rows[3], delta, floor)
if refusal then return refusal end
local to = string.format('%d', version)
redis.call('MSET', KEYS[2], to, KEYS[3], to .. ' n' .. sum)
local report = string.format('%d\n', now) .. name .. '\n' .. from .. '\n' .. to .. '\n' .. sum
redis.call('SET', KEYS[1], report, 'PX', ARGV[1])
return { 'applied', '0', report }
