-- Gives a call all that it has for longer, if it has all of it still.
-- KEYS: number, call, [attempt], places, locks | ARGV: call, fence, how long from now on (µs), how many [attempts], places and locks
local call, fence = ARGV[1], ARGV[2]
local n_places, n_locks = tonumber(ARGV[5]), tonumber(ARGV[6])
local once_at = ARGV[4] == '1' and 3
local places_at = once_at and 4 or 3
local locks_at = places_at + n_places
local rows = redis.call('MGET', unpack(KEYS))
--> now
--> lanes
local ends, known = now + ARGV[3], rows[2]
if not known or string.sub(known, 1, 17) ~= 'h' .. fence or tonumber(string.sub(known, 18, 33)) <= now then return 'no' end
local function has_share(key)
  local until_then = redis.call('ZSCORE', key .. '\ns', call)
  return until_then and tonumber(until_then) > now
end
for nth = places_at, locks_at - 1 do
  if not has_share(KEYS[nth]) then return 'no' end
end
for nth = locks_at, locks_at + n_locks - 1 do
  local kind, until_then, _, holder = lane_of(rows[nth])
  local has = until_then > now and holder == call
  if kind == 's' then has = has_share(KEYS[nth]) end
  if not has then return 'no' end
end
if once_at then
  local attempt = rows[once_at]
  if not attempt or string.sub(attempt, 1, 17) ~= fence .. 'd' or tonumber(string.sub(attempt, 18, 33)) <= now
    or tonumber(string.sub(attempt, 34, 49)) <= now then return 'no' end
end
--> hold_on
return 'yes'
