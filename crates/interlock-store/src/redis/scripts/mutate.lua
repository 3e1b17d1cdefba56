-- Changes records, whole or not at all, once per op-id.
-- KEYS: op, version, index of records, record, [the other record of a transfer], [lease]
-- ARGV: how long to remember the op (ms), fence or '', change, name of the record, then as the change needs:
--   put: expect, kind, content | delete: expect | add: delta, floor or '' | transfer: amount, floor, name of the other record
-- Everything is read and judged before the first write, because a script that fails half way is not rolled back.
local remember, fence, change, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local known = redis.call('MGET', KEYS[1], KEYS[2])
if known[1] then return { 'applied', '1', known[1] } end
local version = tonumber(known[2] or 0)

local now = now_in_micros()
if fence ~= '' then
  local current, ends, owner = parts(redis.call('GET', KEYS[#KEYS]), LEASE)
  if not current or owner == '' or tonumber(ends) <= now then return { 'fenced', '' } end
  if current ~= fence then return { 'fenced', current } end
end

local function next_version()
  version = next_after(version, now)
  return text(version)
end

-- The sum of two numbers of 64 bits as digits, or which refusal.
local function long_sum(number, delta, floor)
  local n = whole_numbers()
  local sum = n.plus(n.whole(number), n.whole(delta))
  if n.less(sum, n.whole('-9223372036854775808')) or n.less(n.whole('9223372036854775807'), sum) then
    return nil, 'overflow'
  end
  if floor and n.less(sum, n.whole(floor)) then return nil, 'short' end
  return n.digits_of(sum)
end

-- A record, the sum as digits if something may be added to its number, and the refusal if not.
local function added(which, key, delta, floor)
  local record = redis.call('HMGET', key, 'version', 'kind', 'content')
  if not record[1] then return record, nil, { 'missing', which } end
  if record[2] ~= 'number' then return record, nil, { 'not-a-number', which } end
  local number, sum, refusal = record[3], nil, nil
  if #number <= 15 and #delta <= 15 and #(floor or '') <= 15 then
    -- Doubles are exact for these, and for their sum.
    sum = tonumber(number) + tonumber(delta)
    if floor and sum < tonumber(floor) then refusal = 'short' else sum = text(sum) end
  else
    sum, refusal = long_sum(number, delta, floor)
  end
  if refusal then return record, nil, { refusal, which, number } end
  return record, sum
end

local function as_expected(from, expect)
  if expect == 'any' then return true end
  if expect == 'absent' then return not from end
  return from and (expect == 'present' or expect == from)
end

-- When, and then for each record: name, version before, version now, number now. The index and the counter are written before the
-- records: should a stranger have put something else in their place, that fails first.
local report
if change == 'add' then
  -- Only a debit has a floor.
  local floor = ARGV[6] ~= '' and string.sub(ARGV[5], 1, 1) == '-' and ARGV[6] or nil
  local record, sum, refusal = added(name, KEYS[4], ARGV[5], floor)
  if refusal then return refusal end
  local to = next_version()
  report = { text(now), name, record[1], to, sum }
  redis.call('SET', KEYS[2], to)
  redis.call('HSET', KEYS[4], 'version', to, 'content', sum)
elseif change == 'transfer' then
  local amount, other = ARGV[5], ARGV[7]
  if amount == '0' or string.sub(amount, 1, 1) == '-' then return { 'not-a-number', name } end
  local giver, rest, refusal = added(name, KEYS[4], '-' .. amount, ARGV[6])
  if refusal then return refusal end
  if other == name then
    local to = next_version()
    report = { text(now), name, giver[1], to, giver[3] }
    redis.call('SET', KEYS[2], to)
    redis.call('HSET', KEYS[4], 'version', to)
  else
    local receiver, sum, refused = added(other, KEYS[5], amount, nil)
    if refused then return refused end
    local to, to_other = next_version(), next_version()
    report = { text(now), name, giver[1], to, rest, other, receiver[1], to_other, sum }
    redis.call('SET', KEYS[2], to_other)
    redis.call('HSET', KEYS[4], 'version', to, 'content', rest)
    redis.call('HSET', KEYS[5], 'version', to_other, 'content', sum)
  end
else
  -- The content may be large, and matters only to whoever is refused.
  local from = redis.call('HGET', KEYS[4], 'version')
  if not as_expected(from, ARGV[5]) or (change == 'delete' and not from) then
    local record = redis.call('HMGET', KEYS[4], 'version', 'kind', 'content')
    return { 'conflict', name, record[1] or '', record[2] or '', record[3] or '' }
  end
  if change == 'delete' then
    report = { text(now), name, from, '', '' }
    redis.call('ZREM', KEYS[3], name)
    redis.call('DEL', KEYS[4])
  else
    local kind, content, to = ARGV[6], ARGV[7], next_version()
    report = { text(now), name, from or '', to, kind == 'number' and content or '' }
    redis.call('SET', KEYS[2], to)
    if not from then redis.call('ZADD', KEYS[3], 0, name) end
    redis.call('HSET', KEYS[4], 'version', to, 'kind', kind, 'content', content)
  end
end
report = table.concat(report, '\n')
redis.call('SET', KEYS[1], report, 'PX', remember)
return { 'applied', '0', report }
