-- What is done to lanes that others have or wait for, too.
--> put
local function put_lane(nth, kind, until_then, queue, who)
  if until_then <= now then kind, until_then, who = 0, 0, '' end
  local over = until_then > queue and until_then or queue
  if over > now then
    put(names[nth], pack('>I8I8I8I1', over, until_then, queue, kind) .. who, over)
  elseif rows[nth] then
    remove(names[nth])
  end
end

-- Where a call stands among those who share a lane: where its end begins.
local function stands(who)
  local found = find(who, call, 1, true)
  while found and found % 25 ~= 9 do found = find(who, call, found + 1, true) end
  return found and found - 8
end

-- Who shares a lane, by its row, without the call and without those whose time is up.
local function others(row)
  local who, from = sub(row, 26), 1
  local own = stands(who)
  if own then who = sub(who, 1, own - 1) .. sub(who, own + 25) end
  while from < #who and read('>I8', who, from) <= now do from = from + 25 end
  return from == 1 and who or sub(who, from)
end

local function last_of(set)
  return tonumber(redis.call('ZRANGE', set, '-1', '-1', 'WITHSCORES')[2] or 0)
end

-- Gives the call its share of a lane until then, beside the others.
local function share(nth, kind, who, queue, ends)
  local set = calls .. '\ns' .. names[nth]
  if kind ~= 3 then
    -- Mostly there is nobody who ends later.
    local behind = #who
    while behind > 0 and read('>I8', who, behind - 24) > ends do behind = behind - 25 end
    who = sub(who, 1, behind) .. pack('>I8', ends) .. call .. sub(who, behind + 1)
    if #who <= 64 * 25 then return put_lane(nth, 2, read('>I8', who, #who - 24), queue, who) end
    for from = 1, #who, 25 do redis.call('ZADD', set, format('%d', read('>I8', who, from)), sub(who, from + 8, from + 24)) end
  end
  redis.call('ZREMRANGEBYSCORE', set, '-inf', format('%d', now))
  redis.call('ZADD', set, format('%d', ends), call)
  local last = last_of(set)
  redis.call('PEXPIREAT', set, format('%d', last / 1000 + 1))
  put_lane(nth, 3, last, queue, '')
end
