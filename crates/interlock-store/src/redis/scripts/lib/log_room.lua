-- How much room a log of grants has for `cost` more in its `window`.
-- Behind the moment at which it is over, its row is l, how many units its grants have together, and of each grant, oldest first, its moment and
-- its units: 12 bytes. From `from` on they are in the window, `used` units. A log of more than 64 grants is a list beside the hash, and its row
-- only L. A row of another kind says nothing: the quota was changed.
local used, from, moment, is_corrected = 0, 14, now, false
local kind, list, excess, total, units, last_grant, its_window = row and byte(row, 9), nil, nil, nil, nil, nil, nil
if kind == 108 then
  used = read('>I4', row, 10)
  if #row > 13 and read('>I8', row, #row - 11) > now then
    -- A grant from the future comes from a clock that was set back: it counts as if it had been made now.
    local first, its = #row + 1, ''
    while first > 14 and read('>I8', row, first - 12) > now do
      first = first - 12
      its = pack('>I8', now) .. sub(row, first + 8, first + 11) .. its
    end
    row, is_corrected = sub(row, 1, first - 1) .. its, true
  end
  while from < #row do
    local its_units
    moment, its_units = read('>I8I4', row, from)
    if moment > now - window then break end
    used, from = used - its_units, from + 12
  end
  excess = used + cost - limit
  -- Room is there once as many of the oldest units have left the window as there are too many now.
  local at, missing = from, excess
  while missing > 0 and at < #row do
    local its_units
    moment, its_units = read('>I8I4', row, at)
    missing, at = missing - its_units, at + 12
  end
elseif kind == 76 then
  list = calls .. '\n' .. name
  --> list_room
else
  row, excess = '', cost - limit
end
