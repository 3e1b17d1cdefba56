-- Appends to a log. The places of all logs come from one counter.
-- KEYS: log, last place | ARGV: entry
local now = now_in_micros()
local place = text(next_after(redis.call('GET', KEYS[2]), now))
redis.call('XADD', KEYS[1], place .. '-0', 'at', text(now), 'entry', ARGV[1])
redis.call('SET', KEYS[2], place)
return { place }
