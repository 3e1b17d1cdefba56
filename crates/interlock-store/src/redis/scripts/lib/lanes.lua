-- A lock is a text: x, s for those who share it, or - for nobody; until when the last of them has it; until when the last of those who wait
-- keeps its place; and the call that has it alone. A place is the same with - and without a call. Beside it there are, each only while it
-- has members, a sorted set of those who share it or have a place (\ns, by their end), the lines of those who want it for themselves (\nx)
-- and of those who would share it (\ny), by their tickets, and the ends of their patience (\nl). Keys hold no such signs otherwise.
local function lane_of(row)
  if not row then return '-', 0, 0, '' end
  return string.sub(row, 1, 1), tonumber(string.sub(row, 2, 17)), tonumber(string.sub(row, 18, 33)), string.sub(row, 34)
end

local function put_lane(key, kind, ends, queue, call)
  if ends <= now then kind, ends, call = '-', 0, '' end
  if queue <= now then queue = 0 end
  if kind == '-' and queue == 0 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, string.format('%s%016d%016d%s', kind, ends, queue, call),
      'PXAT', string.format('%d', math.max(ends, queue) / 1000 + 1))
  end
end

-- Gives a call its share of a lock or a place until then, and says when the last of all shares ends. If it is known when those of the others
-- do, 0 if there are none, the server need not be asked.
local function share(key, call, ends, of_others)
  local shares = key .. '\ns'
  redis.call('ZADD', shares, string.format('%d', ends), call)
  local last = of_others and math.max(of_others, ends) or tonumber(redis.call('ZRANGE', shares, '-1', '-1', 'WITHSCORES')[2])
  redis.call('PEXPIREAT', shares, string.format('%d', last / 1000 + 1))
  return last
end

-- Takes a call out of a line, and says until when the last of the others keeps its place.
local function leave_line(key, call)
  redis.call('ZREM', key .. '\nx', call)
  redis.call('ZREM', key .. '\ny', call)
  redis.call('ZREM', key .. '\nl', 'x' .. call, 'y' .. call)
  local last = redis.call('ZRANGE', key .. '\nl', '-1', '-1', 'WITHSCORES')[2]
  return last and tonumber(last) or 0
end
