-- Gives a call all that it has for longer, if it has all of it still.
-- KEYS: calls, [attempt]
-- ARGV: how long from now on (µs), how many places and locks; the call, the places, the locks; the fence
--> names
local ttl, n_places, n_locks = struct.unpack('>I8I4I4', ARGV[1])
local call, fence = ARGV[2], ARGV[#ARGV]
local places_at, locks_at = 3, 3 + n_places
local once_at = KEYS[2] and 2
local rows = redis.call('HMGET', KEYS[1], 'n', unpack(ARGV, 2, locks_at + n_locks - 1))
local attempt = once_at and redis.call('GET', KEYS[2])
--> now
--> rows
--> lanes
local known, ends = rows[2], format('%016d', now + ttl)
if not known or sub(known, 17) ~= 'h' .. fence or sub(known, 1, 16) <= at_now then return 'no' end
for nth = places_at, locks_at + n_locks - 1 do
  local kind, _, _, who = lane_of(rows[nth])
  local has = who == call
  if kind == 's' then
    local found = find(who, call, 1, true)
    has = found and sub(who, found - 16, found - 1) > at_now
  elseif kind == 'S' then
    local until_then = redis.call('ZSCORE', calls .. '\ns' .. ARGV[nth], call)
    has = until_then and tonumber(until_then) > now
  end
  if not has then return 'no' end
end
if once_at and (not attempt or sub(attempt, 1, 17) ~= fence .. 'd' or sub(attempt, 18, 33) <= at_now
  or sub(attempt, 34, 49) <= at_now) then return 'no' end
--> hold_on
return 'yes'
