-- Writes a record, once per op-id.
-- KEYS: record, op, version, index of records, [lease]
-- ARGV: how long to remember the op (ms), fence or '', name of the record, expect, kind, content
local rows = redis.call('MGET', unpack(KEYS, 2))
--> once
--> expected
if not met then return { 'conflict', name, redis.call('GET', KEYS[1]) or '' } end
local kind, content, to = ARGV[5], ARGV[6], string.format('%d', version)
-- First, because it fails if a stranger has put something else in the index's place.
if not from then redis.call('ZADD', KEYS[4], '0', name) end
if #content < 10000 then
  redis.call('MSET', KEYS[3], to, KEYS[1], to .. ' ' .. kind .. content)
else
  -- To join two large texts takes Lua longer than the server.
  redis.call('MSET', KEYS[3], to, KEYS[1], to .. ' ' .. kind)
  redis.call('APPEND', KEYS[1], content)
end
local report = string.format('%d\n', now) .. name .. '\n' .. (from or '') .. '\n' .. to .. '\n' .. (kind == 'n' and content or '')
redis.call('SET', KEYS[2], report, 'PX', ARGV[1])
return { 'applied', '0', report }
