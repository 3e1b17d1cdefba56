-- Prolongs a lease from now on, if it is held with this fence.
-- KEYS: lease | ARGV: fence, how long (µs), how long the fence is remembered afterwards (µs)
local now = now_in_micros()
local fence, ends, owner = parts(redis.call('GET', KEYS[1]), LEASE)
if fence ~= ARGV[1] or owner == '' or tonumber(ends) <= now then return { 'no' } end
store_lease(KEYS[1], fence, now + tonumber(ARGV[2]), owner, ARGV[3])
return { 'yes' }
