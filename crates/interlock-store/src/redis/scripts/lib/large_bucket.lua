-- The row of a bucket whose times pass 2^53 µs holds, behind a moment that is near enough to sweep it by, the exact one in digits.
local this_moment, zero, latest_moment = whole(format('%d', now)), whole('0'), whole('18446744073709551615')
local function owed_to(row, capacity)
  local owed, kind = zero, row and byte(row, 9)
  if row and not kind then owed = minus(whole(format('%d', (read('>I8', row)))), this_moment) end
  if kind == 66 then owed = minus(whole(sub(row, 10)), this_moment) end
  if less(owed, zero) then owed = zero end
  if less(capacity, owed) then return capacity, true end
  return owed, false
end
local function large_row(full)
  if less(latest_moment, full) then full = latest_moment end
  local over = math.min(about(full), 9000000000000000)
  return pack('>I8I1', over, 66) .. digits_of(full), over
end
