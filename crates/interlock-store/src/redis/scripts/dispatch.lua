-- Notes that the effect is about to start, if the reservation is still held with this fence.
-- KEYS: attempt | ARGV: fence, how long from now on (µs)
local now = now_in_micros()
local row = redis.call('HMGET', KEYS[1], 'fence', 'phase', 'until', 'forget')
if row[1] ~= ARGV[1] or tonumber(row[4]) <= now then return { 'no' } end
if row[2] ~= 'reserved' and row[2] ~= 'dispatched' then return { 'no' } end
if tonumber(row[3]) <= now then return { 'no' } end
local ends = now + tonumber(ARGV[2])
local forget = math.max(tonumber(row[4]), ends)
redis.call('HSET', KEYS[1], 'phase', 'dispatched', 'until', text(ends), 'forget', text(forget))
forget_after(KEYS[1], forget)
return { 'yes' }
