-- Prolongs a lease from now on, if it is held with this fence.
-- KEYS: lease | ARGV: fence, how long (µs), how long the fence is remembered afterwards (µs)
--> now
--> lease
if fence ~= ARGV[1] or owner == '' or tonumber(ends) <= now then return { 'no' } end
ends = now + ARGV[2]
local remember = ARGV[3]
--> store_lease
return { 'yes' }
