-- Records in order of their names, with what they hold at one moment.
-- KEYS: index of records | ARGV: least name, greatest name, how many, what the keys of records start with
-- The keys of the records come from the index: they cannot be named beforehand, and share its hash tag.
local answer = {}
for _, name in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  local row = redis.call('HMGET', ARGV[4] .. name, 'version', 'kind', 'content')
  if row[1] then
    table.insert(answer, name)
    for _, part in ipairs(row) do table.insert(answer, part) end
  end
end
return answer
