-- Records in order of their names, with what they hold at one moment.
-- KEYS: index of records | ARGV: least name, greatest name, how many, what the keys of records start with
-- The keys of the records come from the index: they cannot be named beforehand, and share its hash tag.
local names = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', '0', ARGV[3])
local answer, prefix, count = {}, ARGV[4], #names
-- As many at a time as a call can surely be given.
for first = 1, count, 1000 do
  local keys = {}
  for place = first, math.min(first + 999, count) do keys[place - first + 1] = prefix .. names[place] end
  local rows = redis.call('MGET', unpack(keys))
  for place = 1, #rows do
    local row = rows[place]
    if row then answer[#answer + 1] = names[first + place - 1] .. string.format('\n%d\n', #row) .. row end
  end
end
return table.concat(answer)
