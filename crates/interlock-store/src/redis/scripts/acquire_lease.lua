-- Takes a lease that nobody holds; its owner gets its own grant again.
-- KEYS: lease | ARGV: owner, how long (µs)
--> now
--> lease
if fence and owner ~= '' and ends > now then
  if owner ~= ARGV[1] then return string.format('held\n%s\n%d', fence, ends - now) end
else
  fence = string.format('%016d', math.max((fence or 0) + 1, now))
end
ends, owner = now + ARGV[2], ARGV[1]
--> store_lease
return tonumber(fence)
