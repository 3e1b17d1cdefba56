-- Gives a call all that it has for longer, if it has all of it still.
-- KEYS: calls
-- ARGV: how to cut the names; how long from now on (µs), the fence, how many places and locks, whether there is an attempt; then the names:
--   the call, the places, the locks, the attempt
--> names
local blob = ARGV[2]
local ttl, fence, n_places, n_locks, is_once, names_at = read('>I8I8I4I4I1', blob)
local names = { 'n', read(ARGV[1], blob, names_at) }
local call, places_at, locks_at = names[2], 3, 3 + n_places
local once_at = locks_at + n_locks
local rows = redis.call('HMGET', KEYS[1], unpack(names, 1, once_at - 1 + is_once))
--> now
if not rows[2] then return 0 end
local until_then, its_fence, standing = read('>I8I8I1', rows[2])
if standing ~= 104 or its_fence ~= fence or until_then <= now then return 0 end
--> rows
--> lanes
local ends = now + ttl
local sets
for nth = places_at, once_at - 1 do
  local row = rows[nth]
  local kind, _, queue = lane_of(row)
  if kind == 0 then return 0 end
  local over = queue > ends and queue or ends
  if kind == 1 then
    if sub(row, 26) ~= call then return 0 end
    written[k + 1], written[k + 2], k = names[nth], pack('>I8I8I8I1c17', over, ends, queue, 1, call), k + 2
  elseif #row == 50 then
    -- Nobody else shares it.
    if sub(row, 34) ~= call then return 0 end
    written[k + 1], written[k + 2], k = names[nth], pack('>I8I8I8I1I8c17', over, ends, queue, 2, ends, call), k + 2
  elseif kind == 2 then
    --> crowd
    local who = sub(row, 26)
    local own = stands(who)
    if not own or read('>I8', who, own) <= now then return 0 end
    share(nth, 2, others(row), queue, ends)
  else
    local its_end = redis.call('ZSCORE', calls .. '\ns' .. names[nth], call)
    if not its_end or tonumber(its_end) <= now then return 0 end
    sets = sets or {}
    sets[#sets + 1] = nth
  end
end
if is_once == 1 then
  local attempt = rows[once_at]
  if not attempt then return 0 end
  local forget, its_fence, its_end, phase = read('>I8I8I8I1', attempt)
  if its_fence ~= fence or phase ~= 100 or its_end <= now or forget <= now then return 0 end
  if forget < ends then forget = ends end
  written[k + 1], written[k + 2], k = names[once_at], pack('>I8I8I8I1', forget, fence, ends, 100) .. sub(attempt, 26), k + 2
  latest = forget
end
for place = 1, sets and #sets or 0 do
  --> crowd
  local _, _, queue = lane_of(rows[sets[place]])
  share(sets[place], 3, '', queue, ends)
end
written[k + 1], written[k + 2], k = call, pack('>I8I8I1', ends, fence, 104), k + 2
if ends > latest then latest = ends end
--> write
return 1
