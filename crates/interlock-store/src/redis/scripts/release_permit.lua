-- Gives a permit back, if the holder still has it.
-- KEYS: permits | ARGV: holder
--> now
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%d', now))
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
-- The last permit takes the key with it; of those that are left, the last to run out says how long the key stays.
local last = redis.call('ZRANGE', KEYS[1], '-1', '-1', 'WITHSCORES')[2]
if last then redis.call('PEXPIREAT', KEYS[1], string.format('%d', last / 1000 + 1)) end
return 1
