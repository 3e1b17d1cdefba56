-- Decides whether a call may run now. Says the fence if so, else in words why not.
-- KEYS: calls
-- ARGV: how to cut the names; how long it holds, how long it keeps its place in line, how long views and attempts are remembered (µs), how many
--   places, locks, keys that it sees, and charges, and whether there is an attempt; how many of each place there are; x or s of each lock; of
--   each key that it sees 1 if it must be fresh, 2 if it is observed, 3 for both; what each charge is; then the names: the call, the
--   places, the locks, of each key that it sees its version and its view, the limits, the attempt and what it says; of a call that would
--   hold something, what its client knows of the server (see epoch)
--> names
local blob = ARGV[2]
local ttl, patience, remembered, keep, n_places, n_locks, n_seen, n_charges, is_once, limits_at =
  read('>I8I8I8I8I4I4I4I4I1', blob)
local wishes_at = limits_at + 4 * n_places
local flags_at = wishes_at + n_locks
local charges_at = flags_at + n_seen
local names = { 'n', read(ARGV[1], blob, charges_at + 25 * n_charges) }
local call, places_at, locks_at = names[2], 3, 3 + n_places
local seen_at = locks_at + n_locks
local rates_at = seen_at + 2 * n_seen
local once_at = rates_at + n_charges
local rows = redis.call('HMGET', KEYS[1], 'ne', unpack(names, 1, once_at - 1 + is_once))
local epoch = table.remove(rows, 1)
--> now
--> rows
--> lanes
local ends, ticket = now + ttl, nil

-- What it has already, or where it stands.
if rows[2] then
  local until_then, number, standing = read('>I8I8I1', rows[2])
  if until_then > now then
    if standing == 104 then
      local fence = number
      --> hold_on
      return fence
    end
    ticket = number
  end
end

--> epoch

if n_charges > 0 and not ticket then
  --> charges
end

local answer
local number = last < now and now or last + 1
local fence = number
if is_once == 1 and rows[once_at] then
  local attempt = rows[once_at]
  local forget, its_fence, until_then, phase = read('>I8I8I8I1', attempt)
  if forget > now and not (phase == 114 and until_then <= now) then
    if sub(attempt, 43, 74) ~= names[once_at + 1] then answer = 'mismatch'
    elseif phase == 114 and sub(attempt, 26, 42) == call then answer = nil
    elseif phase == 100 and until_then <= now then answer = 'in-doubt'
    elseif phase == 100 or phase == 114 then answer = format('same\n%d', until_then - now)
    else
      local name = names[once_at]
      --> stored_answer
      answer = told or 'in-doubt'
    end
  end
  if fence <= its_fence then fence = its_fence + 1 end
end

local whos
if not answer then
  local held, last_end, full, full_until, ahead = nil, 0, nil, nil, 0
  for nth = locks_at, seen_at - 1 do
    local row = rows[nth]
    if row then
      local kind, until_then, queue = lane_of(row)
      local is_shared = byte(blob, wishes_at + nth - locks_at) == 115
      local blocked = kind ~= 0 and (kind == 1 or not is_shared) and until_then
      if queue ~= 0 then
        --> line
        local before, lapses = line(nth, ticket, is_shared, not blocked)
        ahead = math.max(ahead, before)
        blocked = blocked or lapses
      end
      if blocked then
        local its_place = nth - locks_at + 1
        held = held and held .. ' ' .. its_place or tostring(its_place)
        if blocked > last_end then last_end = blocked end
      end
    end
  end
  for nth = places_at, locks_at - 1 do
    local row, limit = rows[nth], read('>I4', blob, limits_at + 4 * (nth - places_at))
    local taken, before, lapses, set = 0, 0, nil, nil
    if row then
      local kind, _, queue = lane_of(row)
      if kind == 3 then
        set = calls .. '\ns' .. names[nth]
        redis.call('ZREMRANGEBYSCORE', set, '-inf', format('%d', now))
        taken = redis.call('ZCARD', set)
      elseif kind == 2 then
        --> crowd
        whos = whos or {}
        whos[nth] = others(row)
        taken = #whos[nth] / 25
      end
      if queue ~= 0 then
        --> line
        before, lapses = line(nth, ticket, false, taken < limit)
        ahead = math.max(ahead, before)
      end
    end
    if not full and taken + before >= limit then
      full, full_until = nth - places_at + 1, lapses or ends
      if taken >= limit and taken > 0 then
        full_until = set and redis.call('ZRANGE', set, '0', '0', 'WITHSCORES')[2] or read('>I8', whos[nth])
      end
    end
  end
  if held then
    answer = format('locks\n%d\n%d\n', ahead, last_end - now) .. held
  elseif full then
    answer = format('place\n%d\n%d\n%d', ahead, full_until - now, full)
  end
  if answer and patience > 0 then
    -- It waits.
    local patient = now + patience
    --> crowd
    if not ticket then ticket, last, is_counted = number, number, true end
    put(call, pack('>I8I8I1', patient, ticket, 119), patient)
    for nth = places_at, seen_at - 1 do
      local field, wish = names[nth], 'x'
      if nth >= locks_at and byte(blob, wishes_at + nth - locks_at) == 115 then wish = 'y' end
      local kind, until_then, so_far = lane_of(rows[nth])
      local queue = so_far > patient and so_far or patient
      local goes = format('%d', queue / 1000 + 1)
      redis.call('ZADD', calls .. '\n' .. wish .. field, format('%d', ticket), call)
      redis.call('PEXPIREAT', calls .. '\n' .. wish .. field, goes)
      redis.call('ZADD', calls .. '\nl' .. field, format('%d', patient), wish .. call)
      redis.call('PEXPIREAT', calls .. '\nl' .. field, goes)
      if queue > so_far then put_lane(nth, kind, until_then, queue, kind == 0 and '' or sub(rows[nth], 26)) end
    end
    --> write
    return answer
  end
end

-- What it must have seen is judged now that nothing else is in its way; what it sees is written unless something is stale.
if not answer then
  local k_before, latest_before, forget = k, latest, now + remembered
  for nth = 1, n_seen do
    local flag, at = byte(blob, flags_at + nth - 1), seen_at + 2 * nth - 2
    local over, version, seen
    if rows[at] then
      over, version = read('>I8I8', rows[at])
      if over <= now then version = nil end
    end
    if flag ~= 2 then
      if rows[at + 1] then
        over, seen = read('>I8I8', rows[at + 1])
        if over <= now then seen = nil end
      end
      if not seen or (version and version ~= seen) then
        answer = (answer or 'stale') .. format('\n%d\n%s', nth, seen and 'seen' or '')
      end
    end
    if flag ~= 1 then
      written[k + 1], written[k + 2], k = names[at + 1], pack('>I8I8', forget, version or 0), k + 2
      if forget > latest then latest = forget end
    end
  end
  if answer then k, latest = k_before, latest_before end
end

if answer then
  -- Who stood in line and gives up stands there no more.
  if ticket then
    --> crowd
    --> leave_line
    for nth = places_at, seen_at - 1 do
      local kind, until_then = lane_of(rows[nth])
      put_lane(nth, kind, until_then, leave_line(nth), kind == 0 and '' or sub(rows[nth], 26))
    end
    remove(call)
  end
  --> write
  return answer
end

written[k + 1], written[k + 2], k = call, pack('>I8I8I1', ends, fence, 104), k + 2
if ends > latest then latest = ends end
for nth = places_at, seen_at - 1 do
  local is_alone, row = nth >= locks_at and byte(blob, wishes_at + nth - locks_at) == 120, rows[nth]
  if row or ticket then
    --> crowd
    local kind, _, queue = lane_of(row)
    if ticket then
      --> leave_line
      queue = leave_line(nth)
    end
    if is_alone then
      put_lane(nth, 1, ends, queue, call)
    else
      share(nth, kind, kind == 2 and (whos and whos[nth] or others(row)) or '', queue, ends)
    end
  else
    -- Nobody has it or waits for it.
    written[k + 1] = names[nth]
    written[k + 2] = is_alone and pack('>I8I8I8I1c17', ends, ends, 0, 1, call) or pack('>I8I8I8I1I8c17', ends, ends, 0, 2, ends, call)
    k = k + 2
  end
end
if is_once == 1 then
  local forget = now + keep
  if forget < ends then forget = ends end
  written[k + 1] = names[once_at]
  written[k + 2] = pack('>I8I8I8I1c17c32', forget, fence, ends, 100, call, names[once_at + 1])
  k = k + 2
  if forget > latest then latest = forget end
end
--> sweep
last, is_counted = fence, true
--> write
return fence
