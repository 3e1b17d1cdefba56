-- Prolongs a permit from now on, if the holder still has it.
-- KEYS: permits | ARGV: holder, how long (µs)
--> now
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not ends or tonumber(ends) <= now then return 0 end
ends = string.format('%d', now + ARGV[2])
redis.call('ZADD', KEYS[1], ends, ARGV[1])
-- The key stays as long as the last of the permits, and so never shorter than before.
local stays = math.max(ends / 1000 + 1, now / 1000 + redis.call('PTTL', KEYS[1]))
redis.call('PEXPIREAT', KEYS[1], string.format('%d', stays))
return 1
