-- Removes what of a page of fields is over. A limit and an attempt stay a minute longer: without them a clock that was set back a little would
-- let one spend twice, or find a fence smaller than the last.
for nth = 2, #fields, 2 do
  local kind = byte(fields[nth - 1])
  if kind ~= 110 and #fields[nth] >= 8 and read('>I8', fields[nth]) <= ((kind == 111 or kind == 114) and now - 60000000 or now) then
    over = over + redis.call('HDEL', calls, fields[nth - 1])
  end
end
