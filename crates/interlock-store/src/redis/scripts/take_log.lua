-- The moments of the grants, in a sorted set: a member is the count of all units up to and with its grant, and the grant's own units.
-- So the units in the window are a difference, however many one grant took, and grants of one moment sort in their order.
-- KEYS: rate | ARGV: how many, in which window (µs), what this costs
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local key, now = KEYS[1], now_in_micros()

-- All units up to and with the grant at a place, its own units, and its moment.
local function grant_at(place)
  local row = redis.call('ZRANGE', key, place, place, 'WITHSCORES')
  if not row[1] then return 0, 0, now end
  return tonumber(string.sub(row[1], 1, 16)), tonumber(string.sub(row[1], 18)), tonumber(row[2])
end

-- A row of the other kind cannot be read like this and says nothing: the quota was changed.
local removed = redis.pcall('ZREMRANGEBYSCORE', key, '-inf', text(now - window))
if type(removed) == 'table' then redis.call('DEL', key) end
local total, _, last = grant_at(-1)
if last > now then
  -- A grant from the future comes from a clock that was set back: it counts as if it had been made now.
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf')) do
    redis.call('ZADD', key, text(now), member)
  end
  forget_after(key, now + window)
end

local first, own, moment = grant_at(0)
local gone = first - own
local used = total - gone
local excess = used + cost - limit
if excess > 0 then
  -- Room is there once as many of the oldest units have left the window as there are too many now: mostly with the first grant.
  if first - gone < excess then
    local low, high = 1, redis.call('ZCARD', key) - 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if grant_at(middle) - gone >= excess then high = middle else low = middle + 1 end
    end
    _, _, moment = grant_at(low)
  end
  return { 'refused', text(moment + window - now) }
end
if cost > 0 then
  redis.call('ZADD', key, text(now), string.format('%016.0f %.0f', total + cost, cost))
  forget_after(key, now + window)
end
return { 'granted', text(limit - used - cost) }
