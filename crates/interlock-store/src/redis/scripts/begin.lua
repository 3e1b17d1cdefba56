-- Reserves an idempotency key, or says what became of it.
-- KEYS: calls | ARGV: the field of the attempt; how long it is reserved, how long it is remembered (µs), the owner and the fingerprint
--> names
local ttl, keep, owner, says = read('>I8I8c17c32', ARGV[2])
local name, rows = ARGV[1], redis.call('HMGET', KEYS[1], 'n', ARGV[1])
--> now
--> rows
local attempt = rows[2]
local forget, fence, until_then, phase = 0, 0, 0, 0
if attempt then forget, fence, until_then, phase = read('>I8I8I8I1', attempt) end
if forget <= now or (phase == 114 and until_then <= now) then
  fence = fence < now and now or fence + 1
  local ends = now + ttl
  forget = now + keep
  if forget < ends then forget = ends end
  written[3], written[4], k, latest = name, pack('>I8I8I8I1c17c32', forget, fence, ends, 114, owner, says), 4, forget
  --> sweep
  --> write
  return fence
end

if sub(attempt, 43, 74) ~= says then return 'mismatch' end
if phase == 114 and sub(attempt, 26, 42) == owner then return fence end
if phase == 100 and until_then <= now then return format('in-doubt\n%d', fence) end
if phase == 100 or phase == 114 then return format('running\n%d', until_then - now) end
--> stored_answer
return told or format('in-doubt\n%d', fence)
