-- Gives a lease back, if it is held with this fence: it has no owner then, which no clock that is set back can undo.
-- KEYS: lease | ARGV: fence, how long it is remembered afterwards (µs)
local now = now_in_micros()
local fence, ends, owner = parts(redis.call('GET', KEYS[1]), LEASE)
if fence ~= ARGV[1] or owner == '' or tonumber(ends) <= now then return { 'no' } end
store_lease(KEYS[1], fence, now, '', ARGV[2])
return { 'yes' }
