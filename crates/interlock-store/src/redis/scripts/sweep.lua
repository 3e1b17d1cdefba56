-- Removes what is over of a part of the hash. Says where the next part begins, 0 after the last, and how much it removed.
-- KEYS: calls | ARGV: where this part begins
--> names
--> now
local calls, over = KEYS[1], 0
local page = redis.call('HSCAN', calls, ARGV[1], 'COUNT', '1000')
local fields = page[2]
--> over
return format('%s\n%d', page[1], over)
