-- GCRA: the bucket is one moment, that at which it would be full again if nothing more were taken.
-- KEYS: calls | ARGV: the field of the limit; in µs what the bucket holds, what may be owed before this is taken, what this costs
-- Says what was owed; if this was refused, one more and negative.
--> names
local capacity, room, cost = read('>I8I8I8', ARGV[2])
local rows = redis.call('HMGET', KEYS[1], 'n', ARGV[1])
--> now
--> rows
local row, owed, too_far = rows[2], 0, false
-- A row of another kind says nothing: the quota was changed.
local kind = row and byte(row, 9)
if row and kind ~= 108 and kind ~= 76 then
  owed = read('>I8', row) - now
  if owed < 0 then owed = 0 end
  -- A bucket is never emptier than empty: a moment further off comes from a clock that was set back, or from a larger bucket. It is put
  -- right also when this is refused, or the caller would stay locked out until the old time comes again.
  if owed > capacity then owed, too_far = capacity, true end
end
if kind == 76 then redis.call('DEL', calls .. '\n' .. ARGV[1]) end
local may = owed <= room
local full = now + owed + (may and cost or 0)
if (may and full > now) or too_far then
  written[3], written[4], k, latest = ARGV[1], pack('>I8', full), 4, full
  --> sweep
  --> write
elseif kind == 108 or kind == 76 then
  -- Also a refusal makes it a bucket, if it was something else.
  redis.call('HDEL', calls, ARGV[1])
end
return may and owed or -1 - owed
