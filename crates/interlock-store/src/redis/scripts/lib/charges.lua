-- The rate limits of a call: all are charged one each, or none is. `wait_of` is then the one that takes longest to have room.
-- Of each one argument: b, B for a large bucket, or l for a log; of a bucket, in µs, what it holds, what may be owed before this is taken,
-- and what this costs; of a log how many, and in which window. Of a large bucket the same three follow as digits.
local wait_of, longest, full_at, logs = nil, -1, {}, nil
for nth = 1, n_charges do
  local key, wait, kind, capacity, room, cost = KEYS[nth + 1], -1, struct.unpack('>c1I8I8I8', ARGV[at])
  if kind == 'b' then
    local row, owed = kept[nth], 0
    -- A bucket is never emptier than empty: a moment further off comes from a clock that was set back, or from a larger bucket. It is put
    -- right also when this is refused, or the caller would stay locked out until the old time comes again.
    local too_far = false
    if row then
      owed = row - now
      if owed < 0 then
        owed = 0
      elseif owed > capacity then
        owed, too_far = capacity, true
      end
    end
    if owed <= room then
      full_at[nth] = string.format('%d', now + owed + cost)
    else
      wait = owed - room
      if too_far then redis.call('SET', key, string.format('%d', now + owed), 'PXAT', string.format('%d', (now + owed) / 1000 + 1)) end
    end
  elseif kind == 'B' then
    --> whole
    local zero, latest, owed = whole('0'), whole('18446744073709551615'), whole('0')
    local this_moment, capacity, room = whole(string.format('%d', now)), whole(ARGV[at + 1]), whole(ARGV[at + 2])
    local row = kept[nth]
    if row then owed = minus(whole(row), this_moment) end
    if less(owed, zero) then owed = zero end
    local too_far = less(capacity, owed)
    if too_far then owed = capacity end
    local full = plus(this_moment, owed)
    if less(room, owed) then
      wait = about(minus(owed, room))
      if too_far and not less(latest, full) then redis.call('SET', key, digits_of(full), 'PXAT', string.format('%d', about(full) / 1000 + 1)) end
    else
      full = plus(full, whole(ARGV[at + 3]))
      if less(latest, full) then full = latest end
      full_at[nth] = digits_of(full)
    end
    at = at + 3
  else
    local limit, window, cost = capacity, room, 1
    --> log_room
    if excess > 0 then
      wait = moment + window - now
    else
      logs = logs or {}
      logs[nth] = { total, units, last, its_window, window }
    end
  end
  if wait > longest then longest, wait_of = wait, nth end
  at = at + 1
end
if wait_of then return string.format('too-often\n%d\n%d', wait_of, longest) end
for nth = 1, n_charges do
  local key, full = KEYS[nth + 1], full_at[nth]
  if full then
    redis.call('SET', key, full, 'PXAT', string.format('%d', full / 1000 + 1))
  else
    local total, units, last, its_window, window = unpack(logs[nth])
    local cost = 1
    --> log_add
  end
end
