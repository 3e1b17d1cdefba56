-- A lane is a lock or a place: x if one call has it alone, s if calls share it, S if so many do that they are in a set beside it, - if nobody
-- has it; when the last of them ends; until when the last of those who wait keeps its place; and the call, or all that share it by
-- their ends, each with its end. Whoever has a place shares it.
-- Beside the hash there are, each only while it has members, sorted sets: those many who share it (\ns, by their ends), those who want it
-- for themselves (\nx) and those who would share it (\ny), by their tickets, and the ends of their patience (\nl).
local function lane_of(row)
  if not row then return '-', NEVER, NEVER, '' end
  local kind, ends, queue, who = sub(row, 17, 17), sub(row, 18, 33), sub(row, 34, 49), sub(row, 50)
  if ends <= at_now then kind, ends, who = '-', NEVER, '' end
  if queue <= at_now then queue = NEVER end
  return kind, ends, queue, who
end

local function put_lane(nth, kind, ends, queue, who)
  if ends <= at_now then kind, ends, who = '-', NEVER, '' end
  local until_then = ends > queue and ends or queue
  if until_then > at_now then
    put(ARGV[nth], until_then .. kind .. ends .. queue .. who)
  elseif rows[nth] then
    remove(ARGV[nth])
  end
end

-- Who shares a lane, without the call and without those whose time is up.
local function others(who)
  local from, found = 1, find(who, call, 1, true)
  if found then who = sub(who, 1, found - 17) .. sub(who, found + 33) end
  while from < #who and sub(who, from, from + 15) <= at_now do from = from + 49 end
  return from == 1 and who or sub(who, from)
end

local function last_of(set)
  local last = redis.call('ZRANGE', set, '-1', '-1', 'WITHSCORES')[2]
  return last and format('%016d', last) or NEVER
end

-- Gives the call its share of a lane until then, beside the others. Says what becomes of the lane: its kind, when the last share ends,
-- and who shares it.
local function share(nth, kind, who, ends)
  if kind ~= 'S' then
    -- Mostly there is nobody who ends later.
    local behind = #who
    while behind > 0 and sub(who, behind - 48, behind - 33) > ends do behind = behind - 49 end
    who = sub(who, 1, behind) .. ends .. call .. sub(who, behind + 1)
    if #who <= 64 * 49 then return 's', sub(who, -49, -34), who end
    local set = calls .. '\ns' .. ARGV[nth]
    for from = 1, #who, 49 do redis.call('ZADD', set, sub(who, from, from + 15), sub(who, from + 16, from + 48)) end
  end
  local set = calls .. '\ns' .. ARGV[nth]
  redis.call('ZREMRANGEBYSCORE', set, '-inf', at_now)
  redis.call('ZADD', set, ends, call)
  local last = last_of(set)
  redis.call('PEXPIREAT', set, format('%d', last / 1000 + 1))
  return 'S', last, ''
end
