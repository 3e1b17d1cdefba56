-- Ends a call: versions rise, its effect's ending is stored, then its locks and places are given back, or it leaves the line.
-- KEYS: calls
-- ARGV: how to cut the names; how long versions and views are remembered, and the ending (µs), the fence, whether there is one, how many
--   places, locks and changes, whether the reader knows its own change, whether there is an attempt, how its effect ended (c, f or 0); then
--   the names: the call, the places, the locks, the versions of what changed, then if so the reader's views of it, the attempt; the answer
--> names
local blob = ARGV[2]
local remembered, kept, fence, is_granted, n_places, n_locks, n_changes, is_seen, is_once, how, names_at =
  read('>I8I8I8I1I4I4I4I1I1I1', blob)
local names = { 'n', read(ARGV[1], blob, names_at) }
local call, places_at, locks_at = names[2], 3, 3 + n_places
local changes_at = locks_at + n_locks
local once_at = changes_at + n_changes + n_changes * is_seen
local rows = redis.call('HMGET', KEYS[1], unpack(names, 1, once_at - 1 + is_once))
--> now
--> rows
--> lanes

if is_granted == 1 and n_changes > 0 then
  local number, forget = last < now and now or last + 1, now + remembered
  for nth = changes_at, changes_at + n_changes - 1 do
    local over, version, view = 0, nil, nil
    if rows[nth] then
      over, version = read('>I8I8', rows[nth])
      if over <= now then over, version = 0, nil end
    end
    -- What this very call raised last was settled before.
    if not version or sub(rows[nth], 17) ~= call then
      if over < forget then over = forget end
      written[k + 1], written[k + 2], k = names[nth], pack('>I8I8c17', over, number, call), k + 2
      if over > latest then latest = over end
      -- Whoever did not know what it changed does not know what is there now.
      if is_seen == 1 and rows[nth + n_changes] then
        local its_end, seen = read('>I8I8', rows[nth + n_changes])
        if its_end > now and (not version or version == seen) then
          written[k + 1], written[k + 2], k = names[nth + n_changes], pack('>I8I8', forget, number), k + 2
        end
      end
      last, is_counted = number, true
    end
  end
end

local attempt, name = is_once == 1 and rows[once_at], names[once_at]
if attempt then
  if is_granted == 0 then
    local forget, its_fence, until_then, phase = read('>I8I8I8I1', attempt)
    if phase == 100 and until_then > now and sub(attempt, 26, 42) == call then
      -- It never ran, so the next may take the key.
      --> put
      put(name, pack('>I8I8I8I1', forget, its_fence, now, 114) .. sub(attempt, 26), forget)
    end
  elseif how ~= 0 then
    local answer = ARGV[3]
    --> end_attempt
  end
end

local is_known = false
if rows[2] then
  local until_then, its_fence, standing = read('>I8I8I1', rows[2])
  is_known = until_then > now and (is_granted == 0 or (standing == 104 and its_fence == fence))
  if is_known then
    gone, n_gone = { 'HDEL', calls, call, nil, nil }, 3
    for nth = places_at, changes_at - 1 do
      local row = rows[nth]
      local kind, until_then, queue = lane_of(row)
      if standing == 104 and queue == 0 and kind ~= 0 and (kind == 1 or #row == 50) then
        -- Nobody waits for it and one call has it.
        if sub(row, -17) == call then
          n_gone = n_gone + 1
          gone[n_gone] = names[nth]
        end
      else
        --> crowd
        local who = ''
        if standing ~= 104 then
          --> leave_line
          queue = leave_line(nth)
          if kind ~= 0 then who = sub(row, 26) end
        elseif kind == 2 then
          who = others(row)
          until_then = who == '' and 0 or read('>I8', who, #who - 24)
        elseif kind == 3 then
          redis.call('ZREM', calls .. '\ns' .. names[nth], call)
          until_then = last_of(calls .. '\ns' .. names[nth])
        elseif kind == 1 then
          who = sub(row, 26)
          if who == call then until_then = 0 end
        end
        put_lane(nth, kind, until_then, queue, who)
        -- Whoever waits in another process is told. Where the account may not tell, it finds out by asking again.
        if queue ~= 0 then redis.pcall('PUBLISH', calls, names[nth]) end
      end
    end
  end
end
--> write
return is_known and 1 or 0
