-- The same as take_bucket, for a bucket so large that its times pass 2^53 µs: in whole numbers of 64 bits.
-- KEYS: rate | ARGV, in µs: what the bucket holds, what may be owed before this is taken, what this costs
local n = whole_numbers()
local ZERO, LAST = n.whole('0'), n.whole('18446744073709551615')
local capacity, room, charge = n.whole(ARGV[1]), n.whole(ARGV[2]), n.whole(ARGV[3])
local now, owed = n.whole(text(now_in_micros())), ZERO
local full = redis.pcall('GET', KEYS[1])
if type(full) == 'string' then owed = n.minus(n.whole(full), now) end
if n.less(owed, ZERO) then owed = ZERO end
local too_far = n.less(capacity, owed)
if too_far then owed = capacity end
if n.less(room, owed) then
  full = n.plus(now, owed)
  if too_far and not n.less(LAST, full) then
    redis.call('SET', KEYS[1], n.digits_of(full), 'PXAT', millisecond_after(n.about(full)))
  end
  return { 'refused', n.digits_of(owed) }
end
full = n.plus(n.plus(now, owed), charge)
if n.less(LAST, full) then full = LAST end
if n.less(now, full) then
  redis.call('SET', KEYS[1], n.digits_of(full), 'PXAT', millisecond_after(n.about(full)))
end
return { 'granted', n.digits_of(owed) }
