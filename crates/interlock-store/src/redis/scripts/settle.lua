-- Ends a call: versions rise, its effect's ending is stored, then its locks and places are given back, or it leaves the line.
-- KEYS: number, call, [attempt], places, locks, of each key that changed its version and its reader's view
-- ARGV: call, fence or nothing, how many [attempts], places, locks and changes, whether the reader knows its own change, how long versions
--   and views are remembered (µs); how the effect ended (c, f or nothing), the answer, how long it is remembered (µs)
local call, fence = ARGV[1], ARGV[2]
local n_places, n_locks, n_changes = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local once_at = ARGV[3] == '1' and 3
local places_at = once_at and 4 or 3
local locks_at = places_at + n_places
local changes_at = locks_at + n_locks
local rows = redis.call('MGET', unpack(KEYS))
--> now
--> lanes

if fence ~= '' and n_changes > 0 then
  local number = string.format('%016d', math.max((rows[1] or 0) + 1, now))
  local forget, is_raised = now + ARGV[8], false
  for nth = changes_at, changes_at + 2 * n_changes - 1, 2 do
    local version, view = rows[nth], rows[nth + 1]
    if version and tonumber(string.sub(version, 17, 32)) <= now then version = nil end
    if view and tonumber(string.sub(view, 17, 32)) <= now then view = nil end
    -- What this very call raised last was settled before.
    if not version or string.sub(version, 33) ~= call then
      local is_fresh = view and (not version or string.sub(version, 1, 16) == string.sub(view, 1, 16))
      local version_goes = version and math.max(forget, tonumber(string.sub(version, 17, 32))) or forget
      redis.call('SET', KEYS[nth], string.format('%s%016d%s', number, version_goes, call), 'PXAT', string.format('%d', version_goes / 1000 + 1))
      -- Whoever did not know what it changed does not know what is there now.
      if is_fresh and ARGV[7] == '1' then
        redis.call('SET', KEYS[nth + 1], string.format('%s%016d', number, forget), 'PXAT', string.format('%d', forget / 1000 + 1))
      end
      is_raised = true
    end
  end
  if is_raised then redis.call('SET', KEYS[1], number) end
end

local attempt = once_at and rows[once_at]
if attempt then
  local its_fence, phase = string.sub(attempt, 1, 16), string.sub(attempt, 17, 17)
  local ends, forget = tonumber(string.sub(attempt, 18, 33)), tonumber(string.sub(attempt, 34, 49))
  local rest
  if fence ~= '' and ARGV[9] ~= '' then
    local may = its_fence == fence and forget > now
      and (phase == 'd' or (phase == 'r' and ends > now) or (phase == ARGV[9] and string.sub(attempt, 146) == ARGV[10]))
    if may then phase, forget, rest = ARGV[9], now + ARGV[11], string.sub(attempt, 50, 145) .. ARGV[10] end
  elseif fence == '' and string.sub(attempt, 50, 81) == call and phase == 'd' and ends > now then
    -- It never ran, so the next may take the key.
    phase, ends, rest = 'r', now, string.sub(attempt, 50)
  end
  if rest then
    redis.call('SET', KEYS[once_at], string.format('%s%s%016d%016d', its_fence, phase, ends, forget) .. rest,
      'PXAT', string.format('%d', forget / 1000 + 1))
  end
end

local known = rows[2]
if not known or tonumber(string.sub(known, 18, 33)) <= now then return 'no' end
if fence ~= '' and string.sub(known, 1, 17) ~= 'h' .. fence then return 'no' end
local holds = string.byte(known) == 104
for nth = places_at, locks_at - 1 do
  if holds then
    redis.call('ZREM', KEYS[nth] .. '\ns', call)
  else
    put_lane(KEYS[nth], '-', 0, leave_line(KEYS[nth], call), '')
  end
end
for nth = locks_at, locks_at + n_locks - 1 do
  local key = KEYS[nth]
  local kind, ends, queue, holder = lane_of(rows[nth])
  if not holds then
    put_lane(key, kind, ends, leave_line(key, call), holder)
  elseif kind == 's' then
    redis.call('ZREM', key .. '\ns', call)
    local last = redis.call('ZRANGE', key .. '\ns', '-1', '-1', 'WITHSCORES')[2]
    put_lane(key, 's', last and tonumber(last) or 0, queue, '')
  elseif holder == call then
    put_lane(key, '-', 0, queue, '')
  end
end
redis.call('DEL', KEYS[2])
return 'yes'
