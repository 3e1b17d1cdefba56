-- Notes that the effect is about to start, if the reservation is still held with this fence.
-- KEYS: attempt | ARGV: fence, how long from now on (µs)
--> now
--> attempt
if fence ~= ARGV[1] or forget <= now then return 'no' end
if phase ~= 'r' and phase ~= 'd' then return 'no' end
if ends <= now then return 'no' end
phase, ends = 'd', now + ARGV[2]
forget = math.max(forget, ends)
local rest = string.sub(attempt, 50)
--> store_attempt
return 'yes'
