-- Gives a lease back, if it is held with this fence: it has no owner then, which no clock that is set back can undo.
-- KEYS: lease | ARGV: fence, how long it is remembered afterwards (µs)
--> now
--> lease
if fence ~= ARGV[1] or owner == '' or tonumber(ends) <= now then return { 'no' } end
ends, owner = now, ''
local remember = ARGV[2]
--> store_lease
return { 'yes' }
