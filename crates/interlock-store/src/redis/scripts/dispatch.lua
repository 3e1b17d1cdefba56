-- Notes that the effect is about to start, if the reservation is still held with this fence.
-- KEYS: calls | ARGV: the field of the attempt; the fence, how long from now on (µs)
--> names
local fence, ttl = read('>I8I8', ARGV[2])
local rows = redis.call('HMGET', KEYS[1], 'n', ARGV[1])
--> now
--> rows
local attempt = rows[2]
if not attempt then return 0 end
local forget, its_fence, until_then, phase = read('>I8I8I8I1', attempt)
if its_fence ~= fence or forget <= now or (phase ~= 114 and phase ~= 100) or until_then <= now then return 0 end
local ends = now + ttl
if forget < ends then forget = ends end
written[3], written[4], k, latest = ARGV[1], pack('>I8I8I8I1', forget, fence, ends, 100) .. sub(attempt, 26), 4, forget
--> write
return 1
