-- Takes a permit if fewer than the limit are out; its holder keeps its own, prolonged.
-- KEYS: permits | ARGV: holder, limit, how long (µs)
--> now
local ends = string.format('%d', now + ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%d', now))
local out = redis.call('ZCARD', KEYS[1])
local owned = out > 0 and redis.call('ZSCORE', KEYS[1], ARGV[1])
if not owned then
  if out >= tonumber(ARGV[2]) then
    local first = redis.call('ZRANGE', KEYS[1], '0', '0', 'WITHSCORES')[2]
    return string.format('full\n%d\n%d', out, (first or ends) - now)
  end
  out = out + 1
end
redis.call('ZADD', KEYS[1], ends, ARGV[1])
-- The key stays as long as the last of the permits, and so never shorter than before.
local stays = ends / 1000 + 1
if out > 1 then stays = math.max(stays, now / 1000 + redis.call('PTTL', KEYS[1])) end
redis.call('PEXPIREAT', KEYS[1], string.format('%d', stays))
return out
