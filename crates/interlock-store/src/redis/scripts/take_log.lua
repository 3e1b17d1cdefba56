-- Takes from a log of grants.
-- KEYS: calls | ARGV: the field of the limit; how many, in which window (µs), what this costs
-- Says how many are left; if this was refused, after how long there is room, one more and negative.
--> names
local limit, window, cost = read('>I4I8I4', ARGV[2])
local name, rows = ARGV[1], redis.call('HMGET', KEYS[1], 'n', ARGV[1])
--> now
--> rows
local row = rows[2]
--> log_room
if excess > 0 or cost == 0 then
  -- Also a look makes it a log, if it was something else.
  if rows[2] and row == '' then redis.call('HDEL', calls, name) end
  -- What has left the window stays out of it, also if the clock is set back.
  if is_corrected or from > 14 then
    --> put
    put(name, pack('>I8I1I4', now + window, 108, used) .. sub(row, from), now + window)
    --> write
  end
  if excess > 0 then return now - moment - window - 1 end
else
  --> log_add
  --> sweep
  --> write
end
return limit - used - cost
