-- How much room a log of grants has for `cost` more in its `window`. What is over is removed from it.
-- The grants are a list, oldest first. Each is, at fixed places, the count of all units up to and with it (16 digits), its own units (10),
-- its moment (16), and the window it was granted for (16). So the units in the window are a difference, however many one grant took.
-- A row of the other kind cannot be read like this and says nothing: the quota was changed.
local newest = redis.pcall('LINDEX', key, '-1')
if type(newest) == 'table' then
  redis.call('DEL', key)
  newest = false
end
-- All units so far, those of them that have left the window, and of the oldest grant in it its units and its moment.
local total, gone, units, moment = 0, 0, 0, now
local last, its_window = now, 0
if newest then
  total, last, its_window = tonumber(string.sub(newest, 1, 16)), tonumber(string.sub(newest, 27, 42)), tonumber(string.sub(newest, 43))
  gone = total
  if last > now then
    -- A grant from the future comes from a clock that was set back: it counts as if it had been made now.
    local place, row = -1, newest
    while row and tonumber(string.sub(row, 27, 42)) > now do
      redis.call('LSET', key, place, string.sub(row, 1, 26) .. string.format('%016d', now) .. string.sub(row, 43))
      place = place - 1
      row = redis.call('LINDEX', key, place)
    end
    redis.call('PEXPIREAT', key, string.format('%d', (now + window) / 1000 + 1))
  end
  -- What is over goes, a few at first and then more at a time.
  local step, over = 1, 0
  repeat
    step, over = math.min(step * 2, 1024), 0
    local rows = redis.call('LRANGE', key, '0', string.format('%d', step - 1))
    for place = 1, #rows do
      local row = rows[place]
      local when = tonumber(string.sub(row, 27, 42))
      if when > now - window then
        units, moment = tonumber(string.sub(row, 17, 26)), when
        gone = string.sub(row, 1, 16) - units
        break
      end
      over = over + 1
    end
    if over > 0 then redis.call('LPOP', key, string.format('%d', over)) end
  until over < step
end

local used = total - gone
local excess = used + cost - limit
-- Room is there once as many of the oldest units have left the window as there are too many now: mostly with the first grant.
if excess > 0 and units < excess then
  local low, high = 1, redis.call('LLEN', key) - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local up_to = string.sub(redis.call('LINDEX', key, middle), 1, 16)
    if up_to - gone >= excess then high = middle else low = middle + 1 end
  end
  moment = string.sub(redis.call('LINDEX', key, low), 27, 42)
end
