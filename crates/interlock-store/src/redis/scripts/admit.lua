-- Decides whether a call may run now.
-- KEYS: calls, charges, [attempt]
-- ARGV: how long it holds, how long it keeps its place in line, how long views and attempts are remembered (µs), whether it asks again, how
--   many charges, places, locks, fresh and observed keys, how many of each place there are, x or s of each lock; the call, the places, the
--   locks, of each key that must be fresh its version and its view, the versions of what is observed, and the views of it; the fingerprint
--   of the attempt; what each charge is
--> names
local ttl, patience, remembered, keep, is_again, n_charges, n_places, n_locks, n_fresh, n_observed, limits_at =
  struct.unpack('>I8I8I8I8I1I4I4I4I4I4', ARGV[1])
local call, wishes_at = ARGV[2], limits_at + 4 * n_places
local places_at, locks_at = 3, 3 + n_places
local fresh_at = locks_at + n_locks
local observed_at = fresh_at + 2 * n_fresh
local views_at = observed_at + n_observed
local at = views_at + n_observed
local once_at = #KEYS > n_charges + 1 and #KEYS
local rows = redis.call('HMGET', KEYS[1], 'n', unpack(ARGV, 2, views_at - 1))
local kept = #KEYS > 1 and redis.call('MGET', unpack(KEYS, 2))
local attempt = once_at and kept[once_at - 1]
--> now
--> rows
--> lanes
local ends = format('%016d', now + ttl)

-- What it has already, or where it stands.
local known, ticket = rows[2], nil
if known and sub(known, 1, 16) > at_now then
  if byte(known, 17) == 104 then
    local fence = sub(known, 18)
    --> hold_on
    return 'granted\n' .. fence
  end
  ticket = sub(known, 18)
end

local says
if once_at then says, at = ARGV[at], at + 1 end
if n_charges > 0 and is_again == 0 and not ticket then
  --> charges
end

local answer, waits, ahead = nil, false, 0
local number = last < at_now and at_now or format('%016d', last + 1)
local fence = number
if attempt then
  local phase, until_then = sub(attempt, 17, 17), sub(attempt, 18, 33)
  if sub(attempt, 34, 49) > at_now and not (phase == 'r' and until_then <= at_now) then
    if sub(attempt, 82, 145) ~= says then answer = 'mismatch'
    elseif phase == 'c' then answer = 'completed\n' .. sub(attempt, 146)
    elseif phase == 'f' then answer = 'failed\n' .. sub(attempt, 146)
    elseif phase == 'r' and '@' .. sub(attempt, 50, 81) == call then answer = nil
    elseif phase == 'd' and until_then <= at_now then answer = 'in-doubt'
    else answer = format('same\n%d', until_then - now) end
  end
  local its_fence = sub(attempt, 1, 16)
  if fence <= its_fence then fence = format('%016d', its_fence + 1) end
end

if not answer then
  local held, latest, full, full_until = nil, NEVER, nil, nil
  for nth = 1, n_locks do
    local lane = locks_at + nth - 1
    local kind, last, queue = lane_of(rows[lane])
    local is_shared = byte(ARGV[1], wishes_at + nth - 1) == 115
    local blocked = kind ~= '-' and (kind == 'x' or not is_shared) and last
    if queue ~= NEVER then
      --> line
      local before, lapses = line(lane, ticket, is_shared, not blocked)
      ahead = math.max(ahead, before)
      blocked = blocked or lapses
    end
    if blocked then
      held = held and held .. ' ' .. nth or tostring(nth)
      if blocked > latest then latest = blocked end
    end
  end
  for nth = 1, n_places do
    local lane, limit = places_at + nth - 1, struct.unpack('>I4', ARGV[1], limits_at + 4 * nth - 4)
    local kind, _, queue, who = lane_of(rows[lane])
    local taken, before, lapses, set = 0, 0, nil, nil
    if kind == 'S' then
      set = calls .. '\ns' .. ARGV[lane]
      redis.call('ZREMRANGEBYSCORE', set, '-inf', at_now)
      taken = redis.call('ZCARD', set)
    elseif kind == 's' then
      who = others(who)
      taken = #who / 49
    end
    if queue ~= NEVER then
      --> line
      before, lapses = line(lane, ticket, false, taken < limit)
      ahead = math.max(ahead, before)
    end
    if not full and taken + before >= limit then
      full, full_until = nth, lapses or ends
      if taken >= limit and taken > 0 then
        full_until = set and redis.call('ZRANGE', set, '0', '0', 'WITHSCORES')[2] or sub(who, 1, 16)
      end
    end
  end
  if held then
    answer = format('locks\n%d\n%d\n', ahead, latest - now) .. held
  elseif full then
    answer = format('place\n%d\n%d\n%d', ahead, full_until - now, full)
  end
  waits = answer and patience > 0
end

if waits then
  local latest, is_counted = format('%016d', now + patience), not ticket
  if not ticket then ticket, last = number, number end
  put(call, latest .. 'w' .. ticket)
  for nth = places_at, fresh_at - 1 do
    local field, wish = ARGV[nth], 'x'
    if nth >= locks_at and byte(ARGV[1], wishes_at + nth - locks_at) == 115 then wish = 'y' end
    local kind, last, so_far, who = lane_of(rows[nth])
    local queue = so_far > latest and so_far or latest
    local goes = format('%d', queue / 1000 + 1)
    redis.call('ZADD', calls .. '\n' .. wish .. field, ticket, call)
    redis.call('PEXPIREAT', calls .. '\n' .. wish .. field, goes)
    redis.call('ZADD', calls .. '\nl' .. field, latest, wish .. call)
    redis.call('PEXPIREAT', calls .. '\nl' .. field, goes)
    if queue > so_far then put_lane(nth, kind, last, queue, who) end
  end
  --> write
  return answer
end

-- What it must have seen is judged now that nothing else is in its way.
if not answer then
  for nth = 1, n_fresh do
    local version, view = rows[fresh_at + 2 * nth - 2], rows[fresh_at + 2 * nth - 1]
    if version and sub(version, 1, 16) <= at_now then version = nil end
    if view and sub(view, 1, 16) <= at_now then view = nil end
    if not view or (version and sub(version, 17, 32) ~= sub(view, 17, 32)) then
      answer = (answer or 'stale') .. format('\n%d\n%s', nth, view and 'seen' or '')
    end
  end
end

local latest, is_counted = ends, false
if answer then
  -- Who stood in line and gives up stands there no more.
  if ticket then
    --> leave_line
    for nth = places_at, fresh_at - 1 do
      local kind, last, _, who = lane_of(rows[nth])
      put_lane(nth, kind, last, leave_line(nth), who)
    end
    remove(call)
    latest = NEVER
    --> write
  end
  return answer
end

put(call, ends .. 'h' .. fence)
for nth = places_at, fresh_at - 1 do
  local kind, last, queue, who = lane_of(rows[nth])
  if ticket then
    --> leave_line
    queue = leave_line(nth)
  end
  if nth < locks_at or byte(ARGV[1], wishes_at + nth - locks_at) == 115 then
    kind, last, who = share(nth, kind, kind == 's' and others(who) or '', ends)
  else
    kind, last, who = 'x', ends, call
  end
  put_lane(nth, kind, last, queue, who)
end
if once_at then
  local forget = format('%016d', now + keep)
  if forget < ends then forget = ends end
  redis.call('SET', KEYS[once_at], fence .. 'd' .. ends .. forget .. sub(call, 2) .. says,
    'PXAT', format('%d', forget / 1000 + 1))
end
if n_observed > 0 then
  local forget = format('%016d', now + remembered)
  if forget > latest then latest = forget end
  for nth = 0, n_observed - 1 do
    local version = rows[observed_at + nth]
    if version and sub(version, 1, 16) <= at_now then version = nil end
    put(ARGV[views_at + nth], forget .. (version and sub(version, 17, 32) or NEVER))
  end
end
--> sweep
last, is_counted = fence, true
--> write
return 'granted\n' .. fence
