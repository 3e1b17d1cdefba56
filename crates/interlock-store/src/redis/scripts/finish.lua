-- Stores how an attempt ended, if it is still held with this fence.
-- KEYS: calls | ARGV: the field of the attempt; the fence, how long it is remembered (µs), how it ended (c or f); the answer
--> names
local fence, kept, how = read('>I8I8I1', ARGV[2])
local name, answer, rows = ARGV[1], ARGV[3], redis.call('HMGET', KEYS[1], 'n', ARGV[1])
--> now
--> rows
local attempt = rows[2]
if not attempt then return 0 end
--> end_attempt
if not is_ended then return 0 end
--> write
return 1
