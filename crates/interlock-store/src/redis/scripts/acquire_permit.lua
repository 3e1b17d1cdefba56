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
    return { 'full', string.format('%d', out), string.format('%d', (first or ends) - now) }
  end
  out = out + 1
end
redis.call('ZADD', KEYS[1], ends, ARGV[1])
-- The key stays as long as the last of the permits.
if out > 1 then ends = redis.call('ZRANGE', KEYS[1], '-1', '-1', 'WITHSCORES')[2] end
redis.call('PEXPIREAT', KEYS[1], string.format('%d', ends / 1000 + 1))
return { 'granted', string.format('%d', out) }
