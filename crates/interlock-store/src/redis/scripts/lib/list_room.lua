-- The same for a log whose grants are a list, oldest first. Each is, at fixed places, the count of all units up to and with it (16 digits), its
-- own units (10), its moment (16), and the window it was granted for (16). So the units in the window are a difference, however many one
-- grant took. What is over is removed.
local newest = redis.call('LINDEX', list, '-1')
-- All units so far, those of them that have left the window, and of the oldest grant in it its units and its moment.
local left = 0
total, units, last_grant, its_window = 0, 0, now, 0
if newest then
  total, last_grant, its_window = tonumber(sub(newest, 1, 16)), tonumber(sub(newest, 27, 42)), tonumber(sub(newest, 43))
  left = total
  if last_grant > now then
    local place, grant = -1, newest
    while grant and tonumber(sub(grant, 27, 42)) > now do
      redis.call('LSET', list, place, sub(grant, 1, 26) .. format('%016d', now) .. sub(grant, 43))
      place = place - 1
      grant = redis.call('LINDEX', list, place)
    end
    redis.call('PEXPIREAT', list, format('%d', (now + window) / 1000 + 1))
  end
  -- What is over goes, a few at first and then more at a time.
  local step, over = 1, 0
  repeat
    step, over = math.min(step * 2, 1024), 0
    local grants = redis.call('LRANGE', list, '0', format('%d', step - 1))
    for place = 1, #grants do
      local grant = grants[place]
      local when = tonumber(sub(grant, 27, 42))
      if when > now - window then
        units, moment = tonumber(sub(grant, 17, 26)), when
        left = sub(grant, 1, 16) - units
        break
      end
      over = over + 1
    end
    if over > 0 then redis.call('LPOP', list, format('%d', over)) end
  until over < step
end
used = total - left
excess = used + cost - limit
-- Mostly there is room with the first grant that leaves.
if excess > 0 and units < excess then
  local low, high = 1, redis.call('LLEN', list) - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local up_to = sub(redis.call('LINDEX', list, middle), 1, 16)
    if up_to - left >= excess then high = middle else low = middle + 1 end
  end
  moment = sub(redis.call('LINDEX', list, low), 27, 42)
end
