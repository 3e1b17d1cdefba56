-- Takes a call out of a line, and says until when the last of the others keeps its place.
local function leave_line(nth)
  local field = names[nth]
  redis.call('ZREM', calls .. '\nx' .. field, call)
  redis.call('ZREM', calls .. '\ny' .. field, call)
  redis.call('ZREM', calls .. '\nl' .. field, 'x' .. call, 'y' .. call)
  return last_of(calls .. '\nl' .. field)
end
