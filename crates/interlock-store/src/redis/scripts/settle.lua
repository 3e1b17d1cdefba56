-- Ends a call: versions rise, its effect's ending is stored, then its locks and places are given back, or it leaves the line.
-- KEYS: calls, [attempt]
-- ARGV: how long versions and views are remembered, and the ending (µs), how many places, locks and changes, whether the reader knows its own
--   change; the call, the places, the locks, the versions of what changed, then if so the reader's views of it; the fence or nothing; of an
--   attempt how the effect ended (c, f or nothing) and the answer
--> names
local remembered, kept, n_places, n_locks, n_changes, is_seen = struct.unpack('>I8I8I4I4I4I1', ARGV[1])
local call = ARGV[2]
local places_at, locks_at = 3, 3 + n_places
local changes_at = locks_at + n_locks
local fence_at = changes_at + n_changes + n_changes * is_seen
local fence, once_at = ARGV[fence_at], KEYS[2] and 2
local rows = redis.call('HMGET', KEYS[1], 'n', unpack(ARGV, 2, fence_at - 1))
local attempt = once_at and redis.call('GET', KEYS[2])
--> now
--> rows
--> lanes
local latest, is_counted = NEVER, false

if fence ~= '' and n_changes > 0 then
  local number, forget = at_now, format('%016d', now + remembered)
  if last >= at_now then number = format('%016d', last + 1) end
  for nth = changes_at, changes_at + n_changes - 1 do
    local version, view = rows[nth], rows[nth + n_changes]
    if version and sub(version, 1, 16) <= at_now then version = nil end
    if is_seen == 0 or (view and sub(view, 1, 16) <= at_now) then view = nil end
    -- What this very call raised last was settled before.
    if not version or sub(version, 33) ~= call then
      local version_goes = version and sub(version, 1, 16) or forget
      if version_goes < forget then version_goes = forget end
      if version_goes > latest then latest = version_goes end
      put(ARGV[nth], version_goes .. number .. call)
      -- Whoever did not know what it changed does not know what is there now.
      if view and (not version or sub(version, 17, 32) == sub(view, 17, 32)) then
        put(ARGV[nth + n_changes], forget .. number)
      end
      last, is_counted = number, true
    end
  end
end

if attempt then
  local its_fence, phase = sub(attempt, 1, 16), sub(attempt, 17, 17)
  local ends, forget = sub(attempt, 18, 33), sub(attempt, 34, 49)
  local how, answer, rest = ARGV[fence_at + 1], ARGV[fence_at + 2], nil
  if fence ~= '' and how ~= '' then
    local may = its_fence == fence and forget > at_now
      and (phase == 'd' or (phase == 'r' and ends > at_now) or (phase == how and sub(attempt, 146) == answer))
    if may then phase, forget, rest = how, format('%016d', now + kept), sub(attempt, 50, 145) .. answer end
  elseif fence == '' and '@' .. sub(attempt, 50, 81) == call and phase == 'd' and ends > at_now then
    -- It never ran, so the next may take the key.
    phase, ends, rest = 'r', at_now, sub(attempt, 50)
  end
  if rest then
    redis.call('SET', KEYS[2], its_fence .. phase .. ends .. forget .. rest, 'PXAT', format('%d', forget / 1000 + 1))
  end
end

local known = rows[2]
local is_known = known and sub(known, 1, 16) > at_now and (fence == '' or sub(known, 17) == 'h' .. fence)
if is_known then
  local holds = byte(known, 17) == 104
  for nth = places_at, changes_at - 1 do
    local kind, ends, queue, who = lane_of(rows[nth])
    if not holds then
      --> leave_line
      queue = leave_line(nth)
    elseif kind == 's' then
      who = others(who)
      ends = who == '' and NEVER or sub(who, -49, -34)
    elseif kind == 'S' then
      redis.call('ZREM', calls .. '\ns' .. ARGV[nth], call)
      ends = last_of(calls .. '\ns' .. ARGV[nth])
    elseif who == call then
      ends = NEVER
    end
    put_lane(nth, kind, ends, queue, who)
  end
  remove(call)
end
--> write
return is_known and 'yes' or 'no'
