-- What every mutation begins with, once its rows are read: first the op, then the version, and last the lease if there is a fence.
-- Everything is judged before the first write, because a script that fails half way is not rolled back.
if rows[1] then return 'known\n' .. rows[1] end
--> now
--> remember_op
local at = string.format('%016d', now)
if fence then
  local lease = rows[#rows]
  if not lease or #lease == 32 or string.sub(lease, 17, 32) <= at then return 'fenced\n' end
  local current = string.sub(lease, 1, 16)
  if fence ~= current then return 'fenced\n' .. current end
end
-- The new version is greater than the last one, and greater than all that were given out before the server lost its data or went back
-- in time.
local to = at
if rows[2] and rows[2] >= at then to = string.format('%016d', rows[2] + 1) end
