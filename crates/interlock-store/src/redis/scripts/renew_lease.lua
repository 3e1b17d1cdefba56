-- Prolongs a lease from now on, if it is held with this fence.
-- KEYS: lease | ARGV: fence, how long (µs)
--> now
--> lease
if fence ~= ARGV[1] or owner == '' or ends <= now then return 0 end
ends = now + ARGV[2]
--> store_lease
return 1
