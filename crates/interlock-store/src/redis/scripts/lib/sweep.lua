-- Now and then a call removes what is over, from where the last one stopped. If a quarter of what it looked at was over, the next call goes on,
-- so that there is seldom more than that.
local is_due = now % 64 == 0
if byte(cursor) == 43 then is_due, cursor = true, sub(cursor, 2) end
if is_due then
  local page, over = redis.call('HSCAN', calls, cursor, 'COUNT', '32'), 0
  cursor, page = page[1], page[2]
  for nth = 2, #page, 2 do
    if page[nth] <= at_now then over = over + redis.call('HDEL', calls, page[nth - 1]) end
  end
  if over * 8 > #page then cursor = '+' .. cursor end
end
