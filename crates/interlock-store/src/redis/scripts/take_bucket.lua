-- GCRA: the bucket is one moment, that at which it would be full again if nothing more were taken.
-- KEYS: rate | ARGV, in µs: what the bucket holds, what may be owed before this is taken, what this costs
local capacity, room, charge = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, owed = now_in_micros(), 0
-- A row of the other kind cannot be read like this and says nothing: the quota was changed.
local full = redis.pcall('GET', KEYS[1])
-- A bucket is never emptier than empty: a moment further off comes from a clock that was set back, or from a larger bucket. It is put
-- right also when this is refused, or the caller would stay locked out until the old time comes again.
local too_far = false
if type(full) == 'string' then
  owed = math.max(tonumber(full) - now, 0)
  too_far = owed > capacity
  owed = math.min(owed, capacity)
end
if owed > room then
  if too_far then redis.call('SET', KEYS[1], text(now + owed), 'PXAT', millisecond_after(now + owed)) end
  return { 'refused', text(owed) }
end
if owed + charge > 0 then
  full = now + owed + charge
  redis.call('SET', KEYS[1], text(full), 'PXAT', millisecond_after(full))
end
return { 'granted', text(owed) }
