-- Gives a lease back, if it is held with this fence: it has no owner then, which no clock that is set back can undo.
-- KEYS: lease | ARGV: fence
--> now
--> lease
if fence ~= ARGV[1] or owner == '' or ends <= now then return 0 end
ends, owner = now, ''
--> store_lease
return 1
