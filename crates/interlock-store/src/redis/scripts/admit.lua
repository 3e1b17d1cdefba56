-- Decides whether a call may run now.
-- KEYS: number, call, charges, [attempt], places, locks, of each key that must be fresh its version and its view, of each that is observed
--   likewise
-- ARGV: call, how long it holds, how long it keeps its place in line, how long versions and views are remembered (µs), whether it asks again,
--   how many charges, [attempts], places, locks, fresh and observed keys; four of each charge; fingerprint and how long it is remembered, of
--   the attempt; how many, of each place; x or s of each lock
local call, is_again = ARGV[1], ARGV[5] == '1'
local n_charges, n_once, n_places, n_locks = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local n_fresh, n_observed = tonumber(ARGV[10]), tonumber(ARGV[11])
local charges_at = 3
local once_at = n_once == 1 and charges_at + n_charges
local places_at = charges_at + n_charges + n_once
local locks_at = places_at + n_places
local fresh_at = locks_at + n_locks
local observed_at = fresh_at + 2 * n_fresh
local rows = redis.call('MGET', unpack(KEYS))
--> now
--> lanes
local ends = now + ARGV[2]

-- What it has already, or where it stands.
local known, ticket = rows[2], nil
if known and tonumber(string.sub(known, 18, 33)) > now then
  local number = string.sub(known, 2, 17)
  if string.byte(known) == 104 then
    local fence = number
    --> hold_on
    return 'granted\n' .. fence
  end
  ticket = number
end

local at = 12
if is_again or ticket then
  at = at + 4 * n_charges
elseif n_charges > 0 then
  --> charges
end

local answer, waits, ahead = nil, nil, 0
local number = string.format('%016d', math.max((rows[1] or 0) + 1, now))
local fence = number
if once_at then
  local attempt, says = rows[once_at], ARGV[at]
  if attempt then
    local phase, until_then, forget = string.sub(attempt, 17, 17), tonumber(string.sub(attempt, 18, 33)), tonumber(string.sub(attempt, 34, 49))
    if forget > now and not (phase == 'r' and until_then <= now) then
      if string.sub(attempt, 82, 145) ~= says then answer = 'mismatch'
      elseif phase == 'c' then answer = 'completed\n' .. string.sub(attempt, 146)
      elseif phase == 'f' then answer = 'failed\n' .. string.sub(attempt, 146)
      elseif phase == 'r' and string.sub(attempt, 50, 81) == call then answer = nil
      elseif phase == 'd' and until_then <= now then answer = 'in-doubt'
      else answer = string.format('same\n%d', until_then - now) end
    end
    fence = math.max(tonumber(fence), string.sub(attempt, 1, 16) + 1)
    fence = string.format('%016d', fence)
  end
  at = at + 2
end

local limits_at, wishes_at = at, at + n_places
local queues, of_others = {}, {}
if not answer then
  --> line
  local held, latest, full, full_until = nil, 0, nil, nil
  for nth = 1, n_locks do
    local key = KEYS[locks_at + nth - 1]
    local is_shared = ARGV[wishes_at + nth - 1] == 's'
    local kind, until_then, queue = lane_of(rows[locks_at + nth - 1])
    local blocked = until_then > now and (kind == 'x' or (kind == 's' and not is_shared)) and until_then
    queues[nth] = queue
    if queue > now then
      local before, lapses = line(key, ticket, is_shared, not blocked)
      ahead = math.max(ahead, before)
      blocked = blocked or lapses
    end
    if blocked then
      held = held and held .. ' ' .. nth or tostring(nth)
      latest = math.max(latest, blocked)
    end
  end
  for nth = 1, n_places do
    local key, limit = KEYS[places_at + nth - 1], tonumber(ARGV[limits_at + nth - 1])
    local _, _, queue = lane_of(rows[places_at + nth - 1])
    queues[n_locks + nth] = queue
    local taken = redis.call('ZCARD', key .. '\ns')
    if taken > 0 then taken = taken - redis.call('ZREMRANGEBYSCORE', key .. '\ns', '-inf', string.format('%d', now)) end
    if taken == 0 then of_others[nth] = 0 end
    local before, lapses = 0, nil
    if queue > now then before, lapses = line(key, ticket, false, taken < limit) end
    ahead = math.max(ahead, before)
    if not full and taken + before >= limit then
      local first = taken >= limit and redis.call('ZRANGE', key .. '\ns', '0', '0', 'WITHSCORES')[2]
      full, full_until = nth, tonumber(first or (taken < limit and lapses) or ends)
    end
  end
  if held then
    answer = string.format('locks\n%d\n%d\n', ahead, latest - now) .. held
  elseif full then
    answer = string.format('place\n%d\n%d\n%d', ahead, full_until - now, full)
  end
  waits = answer and ARGV[3] ~= '0'
end

if waits then
  local lapses = now + ARGV[3]
  if not ticket then
    ticket = number
    redis.call('SET', KEYS[1], number)
  end
  local goes = string.format('%d', lapses / 1000 + 1)
  redis.call('SET', KEYS[2], string.format('w%s%016d', ticket, lapses), 'PXAT', goes)
  for nth = 1, n_locks + n_places do
    local index = nth <= n_locks and locks_at + nth - 1 or places_at + nth - n_locks - 1
    local key, kind = KEYS[index], nth <= n_locks and ARGV[wishes_at + nth - 1] == 's' and 'y' or 'x'
    local queue = math.max(queues[nth], lapses)
    local line_goes = string.format('%d', queue / 1000 + 1)
    redis.call('ZADD', key .. '\n' .. kind, ticket, call)
    redis.call('ZADD', key .. '\nl', string.format('%d', lapses), kind .. call)
    redis.call('PEXPIREAT', key .. '\nx', line_goes)
    redis.call('PEXPIREAT', key .. '\ny', line_goes)
    redis.call('PEXPIREAT', key .. '\nl', line_goes)
    if queue > queues[nth] then
      local holds, until_then, _, holder = lane_of(rows[index])
      put_lane(key, holds, until_then, queue, holder)
    end
  end
  return answer
end

-- What it must have seen is judged now that nothing else is in its way.
if not answer then
  for nth = 0, n_fresh - 1 do
    local version, view = rows[fresh_at + 2 * nth], rows[fresh_at + 2 * nth + 1]
    if version and tonumber(string.sub(version, 17, 32)) <= now then version = nil end
    if view and tonumber(string.sub(view, 17, 32)) <= now then view = nil end
    if not view or (version and string.sub(version, 1, 16) ~= string.sub(view, 1, 16)) then
      answer = (answer or 'stale') .. string.format('\n%d\n%s', nth + 1, view and 'seen' or '')
    end
  end
end

-- It stands in no line any more, whether it got everything or gives up.
if ticket then
  for nth = 1, n_locks + n_places do
    local index = nth <= n_locks and locks_at + nth - 1 or places_at + nth - n_locks - 1
    queues[nth] = leave_line(KEYS[index], call)
    if answer or nth > n_locks then
      local holds, until_then, _, holder = lane_of(rows[index])
      put_lane(KEYS[index], holds, until_then, queues[nth], holder)
    end
  end
end
if answer then
  if ticket then redis.call('DEL', KEYS[2]) end
  return answer
end

redis.call('SET', KEYS[1], fence)
redis.call('SET', KEYS[2], string.format('h%s%016d', fence, ends), 'PXAT', string.format('%d', ends / 1000 + 1))
for nth = 1, n_locks do
  local key = KEYS[locks_at + nth - 1]
  if ARGV[wishes_at + nth - 1] == 's' then
    local kind, until_then = lane_of(rows[locks_at + nth - 1])
    local is_shared = kind == 's' and until_then > now
    if kind == 's' then redis.call('ZREMRANGEBYSCORE', key .. '\ns', '-inf', string.format('%d', now)) end
    put_lane(key, 's', share(key, call, ends, is_shared and until_then or 0), queues[nth], '')
  else
    put_lane(key, 'x', ends, queues[nth], call)
  end
end
for nth = 1, n_places do share(KEYS[places_at + nth - 1], call, ends, of_others[nth]) end
if once_at then
  local forget = math.max(ends, now + ARGV[limits_at - 1])
  redis.call('SET', KEYS[once_at], string.format('%sd%016d%016d', fence, ends, forget) .. call .. ARGV[limits_at - 2],
    'PXAT', string.format('%d', forget / 1000 + 1))
end
if n_observed > 0 then
  local forget = now + ARGV[4]
  local row, goes = string.format('%016d', forget), string.format('%d', forget / 1000 + 1)
  for nth = 0, n_observed - 1 do
    local version = rows[observed_at + 2 * nth]
    if version and tonumber(string.sub(version, 17, 32)) <= now then version = nil end
    version = version and string.sub(version, 1, 16) or '0000000000000000'
    redis.call('SET', KEYS[observed_at + 2 * nth + 1], version .. row, 'PXAT', goes)
  end
end
return 'granted\n' .. fence
