-- Reserves an idempotency key, or says what became of it.
-- KEYS: attempt | ARGV: owner and fingerprint, how long it is reserved (µs), how long it is remembered (µs)
--> now
--> attempt
local known = fence and forget > now
if not known or (phase == 'r' and ends <= now) then
  local rest = ARGV[1]
  fence = string.format('%016d', math.max((fence or 0) + 1, now))
  phase, ends = 'r', now + ARGV[2]
  forget = math.max(ends, now + ARGV[3])
  --> store_attempt
  return 'reserved\n' .. fence
end

if string.sub(attempt, 82, 145) ~= string.sub(ARGV[1], 33) then return 'mismatch' end
if phase == 'c' then return 'completed\n' .. string.sub(attempt, 146) end
if phase == 'f' then return 'failed\n' .. string.sub(attempt, 146) end
if phase == 'r' and string.sub(attempt, 50, 81) == string.sub(ARGV[1], 1, 32) then return 'reserved\n' .. fence end
if phase == 'd' and ends <= now then return 'in-doubt\n' .. fence end
return string.format('running\n%d', ends - now)
