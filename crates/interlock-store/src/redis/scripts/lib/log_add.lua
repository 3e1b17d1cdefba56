-- Adds a grant to a log that has room.
redis.call('RPUSH', key, string.format('%016d%010d%016d%016d', total + cost, cost, now, window))
-- How long the key stays is set with the first grant of a span of time as long as the window, and not with each.
local span = math.floor(now / window)
if units == 0 or its_window ~= window or last > now or math.floor(last / window) ~= span then
  redis.call('PEXPIREAT', key, string.format('%d', (span + 2) * window / 1000 + 1))
end
