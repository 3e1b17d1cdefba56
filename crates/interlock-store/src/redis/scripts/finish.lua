-- Stores how an attempt ended, if it is still held with this fence. What was dispatched can be finished late: nobody takes it over.
-- KEYS: attempt | ARGV: fence, how it ended (c or f), the answer, how long it is remembered (µs)
--> now
--> attempt
if fence ~= ARGV[1] or tonumber(forget) <= now then return { 'no' } end
local may = phase == 'd'
  or (phase == 'r' and tonumber(ends) > now)
  or (phase == ARGV[2] and answer == ARGV[3])
if not may then return { 'no' } end
phase, answer, forget = ARGV[2], ARGV[3], now + ARGV[4]
--> store_attempt
return { 'yes' }
