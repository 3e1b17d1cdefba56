-- Reserves an idempotency key, or says what became of it.
-- KEYS: attempt | ARGV: fingerprint, owner, how long it is reserved (µs), how long it is remembered (µs)
--> now
--> attempt
local known = fence and tonumber(forget) > now
if not known or (phase == 'r' and tonumber(ends) <= now) then
  fence = string.format('%d', math.max((fence or 0) + 1, now))
  phase, ends, owner, fingerprint, answer = 'r', now + ARGV[3], ARGV[2], ARGV[1], ''
  forget = math.max(ends, now + ARGV[4])
  --> store_attempt
  return { 'reserved', fence }
end

if fingerprint ~= ARGV[1] then return { 'mismatch' } end
if phase == 'c' then return { 'completed', answer } end
if phase == 'f' then return { 'failed', answer } end
if phase == 'r' and owner == ARGV[2] then return { 'reserved', fence } end
if phase == 'd' and tonumber(ends) <= now then return { 'in-doubt', fence } end
return { 'running', string.format('%d', ends - now) }
