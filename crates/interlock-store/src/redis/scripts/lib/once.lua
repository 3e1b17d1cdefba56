-- What every mutation begins with, once its rows are read: first the op, then the version, and last the lease if there is a fence.
-- Everything is judged before the first write, because a script that fails half way is not rolled back.
if rows[1] then return { 'applied', '1', rows[1] } end
--> now
if ARGV[2] ~= '' then
  local lease = rows[#rows]
  if not lease then return { 'fenced', '' } end
  local fence, ends, owner = assert(string.match(lease, '^(%d+) (%d+) (%x*)$'))
  if owner == '' or tonumber(ends) <= now then return { 'fenced', '' } end
  if fence ~= ARGV[2] then return { 'fenced', fence } end
end
-- Greater than the last one, and greater than all that were given out before the server lost its data or went back in time.
local version = math.max((rows[2] or 0) + 1, now)
