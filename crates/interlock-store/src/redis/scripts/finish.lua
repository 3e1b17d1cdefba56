-- Stores how an attempt ended, if it is still held with this fence. What was dispatched can be finished late: nobody takes it over.
-- KEYS: attempt | ARGV: fence, how it ended (c or f), the answer, how long it is remembered (µs)
--> now
--> attempt
if fence ~= ARGV[1] or forget <= now then return 'no' end
local may = phase == 'd'
  or (phase == 'r' and ends > now)
  or (phase == ARGV[2] and string.sub(attempt, 146) == ARGV[3])
if not may then return 'no' end
phase, forget = ARGV[2], now + ARGV[4]
local rest = string.sub(attempt, 50, 145) .. ARGV[3]
--> store_attempt
return 'yes'
