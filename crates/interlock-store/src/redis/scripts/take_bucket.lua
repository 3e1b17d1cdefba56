-- GCRA: the bucket is one moment, that at which it would be full again if nothing more were taken.
-- KEYS: rate | ARGV, in µs: what the bucket holds, what may be owed before this is taken, what this costs
local capacity, room, charge = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
--> now
local owed = 0
-- A row of the other kind cannot be read like this and says nothing: the quota was changed.
local full = redis.pcall('GET', KEYS[1])
-- A bucket is never emptier than empty: a moment further off comes from a clock that was set back, or from a larger bucket. It is put
-- right also when this is refused, or the caller would stay locked out until the old time comes again.
local too_far = false
if type(full) == 'string' then
  owed = math.max(full - now, 0)
  too_far = owed > capacity
  owed = math.min(owed, capacity)
end
local may = owed <= room
if (may and owed + charge > 0) or (not may and too_far) then
  full = now + owed + (may and charge or 0)
  redis.call('SET', KEYS[1], string.format('%d', full), 'PXAT', string.format('%d', full / 1000 + 1))
end
return { may and 'granted' or 'refused', string.format('%d', owed) }
