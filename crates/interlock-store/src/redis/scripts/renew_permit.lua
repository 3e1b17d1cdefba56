-- Prolongs a permit from now on, if the holder still has it.
-- KEYS: permits | ARGV: holder, how long (µs)
--> now
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not ends or tonumber(ends) <= now then return { 'no' } end
redis.call('ZADD', KEYS[1], string.format('%d', now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], '-1', '-1', 'WITHSCORES')[2]
redis.call('PEXPIREAT', KEYS[1], string.format('%d', last / 1000 + 1))
return { 'yes' }
