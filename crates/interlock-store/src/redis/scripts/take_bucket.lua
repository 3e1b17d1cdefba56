-- GCRA: the bucket is one moment, that at which it would be full again if nothing more were taken.
-- KEYS: rate | ARGV, in µs: what the bucket holds, what may be owed before this is taken, what this costs
--> now
local owed, room = 0, tonumber(ARGV[2])
-- A row of the other kind cannot be read like this and says nothing: the quota was changed.
local full = redis.pcall('GET', KEYS[1])
-- A bucket is never emptier than empty: a moment further off comes from a clock that was set back, or from a larger bucket. It is put
-- right also when this is refused, or the caller would stay locked out until the old time comes again.
local too_far = false
if type(full) == 'string' then
  owed = full - now
  if owed < 0 then
    owed = 0
  elseif owed > room then
    local capacity = tonumber(ARGV[1])
    if owed > capacity then owed, too_far = capacity, true end
  end
end
local may = owed <= room
local after = owed
if may then after = owed + ARGV[3] end
if (may and after > 0) or too_far then
  full = now + after
  redis.call('SET', KEYS[1], string.format('%d', full), 'PXAT', string.format('%d', full / 1000 + 1))
end
return string.format(may and 'granted\n%d' or 'refused\n%d', owed)
