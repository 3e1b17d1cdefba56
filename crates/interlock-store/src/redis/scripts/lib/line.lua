-- How many stand in a line before a ticket, and if it matters, when the first of them who is in the way loses its place.
local function line(key, ticket, is_shared, matters)
  local ends = key .. '\nl'
  local silent = redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%d', now))
  for nth = 1, #silent do
    local kind = string.sub(silent[nth], 1, 1)
    redis.call('ZREM', key .. '\n' .. kind, string.sub(silent[nth], 2))
    redis.call('ZREM', ends, silent[nth])
  end
  local before = ticket and '(' .. ticket or '+inf'
  local alone = redis.call('ZCOUNT', key .. '\nx', '-inf', before)
  local sharing = redis.call('ZCOUNT', key .. '\ny', '-inf', before)
  local first
  if matters and alone > 0 then
    first = redis.call('ZRANGE', key .. '\nx', '0', '0', 'WITHSCORES')
    first[1] = 'x' .. first[1]
  end
  if matters and sharing > 0 and not is_shared then
    local other = redis.call('ZRANGE', key .. '\ny', '0', '0', 'WITHSCORES')
    if not first or tonumber(other[2]) < tonumber(first[2]) then first = { 'y' .. other[1] } end
  end
  return alone + sharing, first and tonumber(redis.call('ZSCORE', ends, first[1]))
end
