-- Takes a lease that nobody holds; its owner gets its own grant again.
-- KEYS: lease | ARGV: owner, how long (µs), how long the fence is remembered afterwards (µs)
--> now
--> lease
if fence and owner ~= '' and tonumber(ends) > now then
  if owner ~= ARGV[1] then return { 'held', fence, string.format('%d', ends - now) } end
else
  fence = string.format('%d', math.max((fence or 0) + 1, now))
end
ends, owner = now + ARGV[2], ARGV[1]
local remember = ARGV[3]
--> store_lease
return { 'granted', fence }
