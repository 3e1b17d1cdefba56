-- Takes a permit if fewer than the limit are out; its holder keeps its own, prolonged.
-- KEYS: permits | ARGV: holder, limit, how long (µs)
local now, ttl = now_in_micros(), tonumber(ARGV[3])
local ends = now + ttl
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
local out = redis.call('ZCARD', KEYS[1])
local owned = out > 0 and redis.call('ZSCORE', KEYS[1], ARGV[1])
if not owned then
  if out >= tonumber(ARGV[2]) then
    local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
    return { 'full', text(out), text(first and tonumber(first) - now or ttl) }
  end
  out = out + 1
end
redis.call('ZADD', KEYS[1], text(ends), ARGV[1])
-- The key stays as long as the last of the permits.
if out > 1 then ends = tonumber(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]) end
forget_after(KEYS[1], ends)
return { 'granted', text(out) }
