-- Stores how an attempt ended, if it is still held with this fence. What was dispatched can be finished late: nobody takes it over.
-- KEYS: attempt | ARGV: fence, how it ended, the answer, how long it is remembered (µs)
local now = now_in_micros()
local row = redis.call('HMGET', KEYS[1], 'fence', 'phase', 'until', 'forget', 'answer')
if row[1] ~= ARGV[1] or tonumber(row[4]) <= now then return { 'no' } end
local phase = row[2]
local may = phase == 'dispatched'
  or (phase == 'reserved' and tonumber(row[3]) > now)
  or (phase == ARGV[2] and row[5] == ARGV[3])
if not may then return { 'no' } end
local forget = now + tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'phase', ARGV[2], 'answer', ARGV[3], 'forget', text(forget))
forget_after(KEYS[1], forget)
return { 'yes' }
