-- Takes a lease that nobody holds; its owner gets its own grant again.
-- KEYS: lease | ARGV: owner, how long (µs), how long the fence is remembered afterwards (µs)
local now = now_in_micros()
local row = redis.call('HMGET', KEYS[1], 'fence', 'owner', 'until')
local fence = row[1]
if fence and tonumber(row[3]) > now then
  if row[2] ~= ARGV[1] then return { 'held', fence, text(tonumber(row[3]) - now) } end
else
  fence = text(next_after(fence, now))
end
local ends = now + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'fence', fence, 'owner', ARGV[1], 'until', text(ends))
forget_after(KEYS[1], ends + tonumber(ARGV[3]))
return { 'granted', fence }
