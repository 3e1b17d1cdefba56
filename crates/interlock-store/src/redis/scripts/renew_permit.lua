-- Prolongs a permit from now on, if the holder still has it.
-- KEYS: permits | ARGV: holder, how long (µs)
local now = now_in_micros()
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not ends or tonumber(ends) <= now then return { 'no' } end
redis.call('ZADD', KEYS[1], text(now + tonumber(ARGV[2])), ARGV[1])
forget_after(KEYS[1], tonumber(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]))
return { 'yes' }
