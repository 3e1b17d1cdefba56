-- Prolongs a lease from now on, or ends it now, if it is held with this fence.
-- KEYS: lease | ARGV: fence, how long from now on (µs), how long the fence is remembered afterwards (µs)
local now = now_in_micros()
local row = redis.call('HMGET', KEYS[1], 'fence', 'until')
if row[1] ~= ARGV[1] or tonumber(row[2]) <= now then return { 'no' } end
local ends = now + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'until', text(ends))
forget_after(KEYS[1], ends + tonumber(ARGV[3]))
return { 'yes' }
