-- Takes a lease that nobody holds; its owner gets its own grant again.
-- KEYS: lease | ARGV: owner, how long (µs), how long the fence is remembered afterwards (µs)
local now = now_in_micros()
local fence, ends, owner = parts(redis.call('GET', KEYS[1]), LEASE)
if fence and owner ~= '' and tonumber(ends) > now then
  if owner ~= ARGV[1] then return { 'held', fence, text(tonumber(ends) - now) } end
else
  fence = text(next_after(fence, now))
end
store_lease(KEYS[1], fence, now + tonumber(ARGV[2]), ARGV[1], ARGV[3])
return { 'granted', fence }
