-- Appends to a log, once per op-id.
-- KEYS: op, log | ARGV: how long to remember the op (ms), name of the log, entry
local known = redis.call('GET', KEYS[1])
if known then return { '1', known } end
--> now
local at = string.format('%d', now)
local place = at
local added = redis.pcall('XADD', KEYS[2], place .. '-0', 'at', at, 'entry', ARGV[3])
if added.err then
  -- The clock was set back: the place comes after the last one, which the stream knows. Any other error stays one.
  local about = redis.pcall('XINFO', 'STREAM', KEYS[2])
  for field = 1, #about, 2 do
    if about[field] == 'last-generated-id' then place = string.format('%d', string.match(about[field + 1], '^%d+') + 1) end
  end
  if tonumber(place) <= now then return added end
  redis.call('XADD', KEYS[2], place .. '-0', 'at', at, 'entry', ARGV[3])
end
local report = at .. '\n' .. ARGV[2] .. '\n\n' .. place .. '\n'
redis.call('SET', KEYS[1], report, 'PX', ARGV[1])
return { '0', report }
