-- How many stand in a line before a ticket, and if it matters, when the first of them who is in the way loses its place.
local function line(nth, ticket, is_shared, matters)
  local alone_in, sharing_in, ends = calls .. '\nx' .. names[nth], calls .. '\ny' .. names[nth], calls .. '\nl' .. names[nth]
  local silent = redis.call('ZRANGEBYSCORE', ends, '-inf', format('%d', now))
  for place = 1, #silent do
    local is_alone = byte(silent[place]) == 120
    redis.call('ZREM', is_alone and alone_in or sharing_in, sub(silent[place], 2))
    redis.call('ZREM', ends, silent[place])
  end
  local before = ticket and format('(%d', ticket) or '+inf'
  local alone = redis.call('ZCOUNT', alone_in, '-inf', before)
  local sharing = redis.call('ZCOUNT', sharing_in, '-inf', before)
  local first
  if matters and alone > 0 then
    first = redis.call('ZRANGE', alone_in, '0', '0', 'WITHSCORES')
    first[1] = 'x' .. first[1]
  end
  if matters and sharing > 0 and not is_shared then
    local other = redis.call('ZRANGE', sharing_in, '0', '0', 'WITHSCORES')
    if not first or tonumber(other[2]) < tonumber(first[2]) then first = { 'y' .. other[1] } end
  end
  local lapses = first and redis.call('ZSCORE', ends, first[1])
  return alone + sharing, lapses and tonumber(lapses)
end
