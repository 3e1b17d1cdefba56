-- Appends to a log, once per op-id.
-- KEYS: op, log | ARGV: fingerprint, name of the log, entry
local known = redis.call('GET', KEYS[1])
if known then return 'known\n' .. known end
--> now
--> remember_op
local at = string.format('%016d', now)
local place = at
local added = redis.pcall('XADD', KEYS[2], place .. '-0', 'entry', ARGV[3])
if added.err then
  -- The clock was set back: the place comes after the last one, which the stream knows. Any other error stays one.
  local about = redis.pcall('XINFO', 'STREAM', KEYS[2])
  for field = 1, #about, 2 do
    if about[field] == 'last-generated-id' then place = string.format('%d', string.match(about[field + 1], '^%d+') + 1) end
  end
  if tonumber(place) <= now then return added end
  -- Only then the entry has a time that is not its place.
  redis.call('XADD', KEYS[2], place .. '-0', 'entry', ARGV[3], 'at', at)
end
local report = ARGV[1] .. '\n' .. at .. '\n' .. ARGV[2] .. '\n\n' .. place .. '\n'
redis.call('SET', KEYS[1], report, 'PX', remember)
return report
