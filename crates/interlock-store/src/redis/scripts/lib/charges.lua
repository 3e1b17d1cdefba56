-- The rate limits of a call: all are charged one each, or none is. `wait_of` is then the one that takes longest to have room.
-- Of each: b, B for a large bucket, or l for a log; of a bucket, in µs, what it holds, what may be owed before this is taken, and what this
-- costs; of a log how many, and in which window. Of a large bucket the same three stand as digits behind all names.
local wait_of, longest, corrected, logs, digits_at = nil, -1, nil, nil, once_at + 2 * is_once
for nth = 1, n_charges do
  local name, row, wait = names[rates_at + nth - 1], rows[rates_at + nth - 1], -1
  local kind, capacity, room, cost = read('>I1I8I8I8', blob, charges_at + 25 * nth - 25)
  if kind == 98 then
    local owed = 0
    if row and byte(row, 9) ~= 108 and byte(row, 9) ~= 76 then owed = read('>I8', row) - now end
    if owed <= room then
      local full = now + (owed > 0 and owed or 0) + cost
      written[k + 1], written[k + 2], k = name, pack('>I8', full), k + 2
      if full > latest then latest = full end
    else
      -- A bucket is never emptier than empty: a moment further off comes from a clock that was set back, or from a larger bucket. It is put
      -- right also when this is refused, or the caller would stay locked out until the old time comes again.
      if owed > capacity then
        owed, corrected = capacity, corrected or {}
        corrected[#corrected + 1] = { name, pack('>I8', now + owed), now + owed }
      end
      wait = owed - room
    end
  elseif kind == 66 then
    --> put
    --> whole
    --> large_bucket
    local capacity, room = whole(names[digits_at]), whole(names[digits_at + 1])
    local owed, too_far = owed_to(row, capacity)
    if less(room, owed) then
      wait = about(minus(owed, room))
      if too_far then
        corrected = corrected or {}
        corrected[#corrected + 1] = { name, large_row(plus(this_moment, owed)) }
      end
    else
      put(name, large_row(plus(plus(this_moment, owed), whole(names[digits_at + 2]))))
    end
    digits_at = digits_at + 3
  else
    local limit, window, cost = capacity, room, 1
    --> log_room
    if excess > 0 then
      wait = moment + window - now
      if is_corrected then
        corrected = corrected or {}
        corrected[#corrected + 1] = { name, pack('>I8I1I4', now + window, 108, used) .. sub(row, from), now + window }
      end
    else
      logs = logs or {}
      logs[#logs + 1] = { name, row, from, used, window, list and { total, units, last_grant, its_window } }
    end
  end
  if wait > longest then longest, wait_of = wait, nth end
end
if wait_of then
  -- What was to be charged is left out, and only what had to be put right is written.
  k, latest = 2, 0
  for nth = 1, corrected and #corrected or 0 do
    --> put
    put(unpack(corrected[nth]))
  end
  --> write
  return format('too-often\n%d\n%d', wait_of, longest)
end
for nth = 1, logs and #logs or 0 do
  local name, row, from, used, window, list = unpack(logs[nth])
  local total, units, last_grant, its_window = unpack(list or {})
  local cost = 1
  --> log_add
end
