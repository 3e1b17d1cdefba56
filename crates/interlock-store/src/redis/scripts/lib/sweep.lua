-- Now and then a call removes what is over, from where the last one stopped. If a quarter of what it looked at was over, the next call goes on,
-- so that there is seldom more than that.
if hurry == 1 or now % 64 == 0 then
  local page, over = redis.call('HSCAN', calls, redis.call('HGET', calls, 'nc') or '0', 'COUNT', '32'), 0
  local fields = page[2]
  --> over
  written[k + 1], written[k + 2], k = 'nc', page[1], k + 2
  hurry, is_counted = over * 8 > #fields and 1 or 0, true
end
