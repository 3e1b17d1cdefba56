-- Appends to a log, once per op-id.
-- KEYS: op, log | ARGV: how long to remember the op (ms), name of the log, entry
local known = redis.call('GET', KEYS[1])
if known then return { '1', known } end

local now = text(now_in_micros())
local place = now
local function add() return redis.pcall('XADD', KEYS[2], place .. '-0', 'at', now, 'entry', ARGV[3]) end
local added = add()
if added.err then
  -- The clock was set back: the place comes after the last one, which the stream knows. Any other error stays one.
  local about = redis.pcall('XINFO', 'STREAM', KEYS[2])
  for field = 1, #about, 2 do
    if about[field] == 'last-generated-id' then place = text(next_after(string.match(about[field + 1], '^%d+'), 0)) end
  end
  if tonumber(place) > tonumber(now) then added = add() end
  if added.err then return added end
end
local report = now .. '\n' .. ARGV[2] .. '\n\n' .. place .. '\n'
redis.call('SET', KEYS[1], report, 'PX', ARGV[1])
return { '0', report }
