-- Removes what is over of a part of all that admissions know. Says where the next part begins, 0 after the last, and how much it removed.
-- KEYS: calls | ARGV: where this part begins
--> now
local at_now, removed = string.format('%016d', now), 0
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', '1000')
for nth = 2, #page[2], 2 do
  if page[2][nth] <= at_now then removed = removed + redis.call('HDEL', KEYS[1], page[2][nth - 1]) end
end
return string.format('%s\n%d', page[1], removed)
