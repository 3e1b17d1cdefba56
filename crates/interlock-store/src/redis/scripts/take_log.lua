-- Takes from a log of grants.
-- KEYS: rate | ARGV: how many, in which window (µs), what this costs
local key, limit, window, cost = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
--> now
--> log_room
if excess > 0 then return string.format('refused\n%d', moment + window - now) end
if cost > 0 then
  --> log_add
end
return string.format('granted\n%d', limit - used - cost)
