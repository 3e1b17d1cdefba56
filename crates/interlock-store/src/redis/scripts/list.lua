-- Records in order of their names, with what they hold at one moment.
-- KEYS: index of records | ARGV: least name, greatest name, how many, what the keys of records start with
-- The keys of the records come from the index: they cannot be named beforehand, and share its hash tag.
local names = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', '0', ARGV[3])
local answer = {}
-- As many at a time as a call can surely be given.
for first = 1, #names, 1000 do
  local keys = {}
  for place = first, math.min(first + 999, #names) do keys[#keys + 1] = ARGV[4] .. names[place] end
  for place, row in ipairs(redis.call('MGET', unpack(keys))) do
    if row then
      answer[#answer + 1] = names[first + place - 1]
      answer[#answer + 1] = row
    end
  end
end
return answer
