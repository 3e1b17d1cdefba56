-- Adds a grant to a log that is a list. How long it stays is set with the first grant of a span of time as long as the window, and not with each.
local its_key, span = calls .. '\n' .. name, math.floor(now / window)
redis.call('RPUSH', its_key, format('%016d%010d%016d%016d', total + cost, cost, now, window))
if units == 0 or its_window ~= window or last_grant > now or math.floor(last_grant / window) ~= span then
  local over = (span + 2) * window
  redis.call('PEXPIREAT', its_key, format('%d', over / 1000 + 1))
  --> put
  put(name, pack('>I8I1', over, 76), over)
end
