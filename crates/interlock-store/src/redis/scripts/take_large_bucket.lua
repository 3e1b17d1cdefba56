-- The same as take_bucket, for a bucket so large that its times pass 2^53 µs: in whole numbers of 64 bits.
-- KEYS: rate | ARGV, in µs: what the bucket holds, what may be owed before this is taken, what this costs
--> whole
--> now
now = whole(string.format('%d', now))
local ZERO, LAST = whole('0'), whole('18446744073709551615')
local capacity, room, charge = whole(ARGV[1]), whole(ARGV[2]), whole(ARGV[3])
local owed = ZERO
local full = redis.pcall('GET', KEYS[1])
if type(full) == 'string' then owed = minus(whole(full), now) end
if less(owed, ZERO) then owed = ZERO end
local too_far = less(capacity, owed)
if too_far then owed = capacity end
if less(room, owed) then
  full = plus(now, owed)
  if too_far and not less(LAST, full) then
    redis.call('SET', KEYS[1], digits_of(full), 'PXAT', string.format('%d', about(full) / 1000 + 1))
  end
  return 'refused\n' .. digits_of(owed)
end
full = plus(plus(now, owed), charge)
if less(LAST, full) then full = LAST end
if less(now, full) then
  redis.call('SET', KEYS[1], digits_of(full), 'PXAT', string.format('%d', about(full) / 1000 + 1))
end
return 'granted\n' .. digits_of(owed)
