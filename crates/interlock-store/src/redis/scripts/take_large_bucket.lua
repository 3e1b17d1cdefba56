-- The same as take_bucket, for a bucket so large that its times pass 2^53 µs: in whole numbers of 64 bits.
-- KEYS: calls | ARGV: the field of the limit; in µs what the bucket holds, what may be owed before this is taken, what this costs
--> names
local rows = redis.call('HMGET', KEYS[1], 'n', ARGV[1])
--> now
--> rows
--> whole
--> large_bucket
local capacity, room, cost = whole(ARGV[2]), whole(ARGV[3]), whole(ARGV[4])
local owed, too_far = owed_to(rows[2], capacity)
local kind = rows[2] and byte(rows[2], 9)
if kind == 76 then redis.call('DEL', calls .. '\n' .. ARGV[1]) end
local may = not less(room, owed)
local full = plus(this_moment, owed)
if may then full = plus(full, cost) end
if (may and less(this_moment, full)) or (too_far and not less(latest_moment, full)) then
  --> put
  put(ARGV[1], large_row(full))
  --> sweep
  --> write
elseif kind == 108 or kind == 76 then
  redis.call('HDEL', calls, ARGV[1])
end
return (may and 'granted\n' or 'refused\n') .. digits_of(owed)
