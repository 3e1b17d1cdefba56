-- Reserves an idempotency key, or says what became of it.
-- KEYS: attempt | ARGV: fingerprint, owner, how long it is reserved (µs), how long it is remembered (µs)
local now = now_in_micros()
local row = redis.call('HMGET', KEYS[1], 'fence', 'fingerprint', 'owner', 'phase', 'until', 'forget', 'answer')
local fence, phase = row[1], row[4]
local ends = tonumber(row[5] or 0)

local known = fence and tonumber(row[6]) > now
if not known or (phase == 'reserved' and ends <= now) then
  fence = text(next_after(fence, now))
  ends = now + tonumber(ARGV[3])
  local forget = math.max(ends, now + tonumber(ARGV[4]))
  redis.call('HSET', KEYS[1], 'fence', fence, 'fingerprint', ARGV[1], 'owner', ARGV[2], 'phase', 'reserved',
    'until', text(ends), 'forget', text(forget), 'answer', '')
  forget_after(KEYS[1], forget)
  return { 'reserved', fence }
end

if row[2] ~= ARGV[1] then return { 'mismatch' } end
if phase == 'completed' or phase == 'failed' then return { phase, row[7] } end
if phase == 'reserved' and row[3] == ARGV[2] then return { 'reserved', fence } end
if phase == 'dispatched' and ends <= now then return { 'in-doubt', fence } end
return { 'running', text(ends - now) }
