-- Writes and removes what was collected. The hash outlives the last of it by as long as fences are remembered, and its end is set so rarely
-- because of that.
local goes = latest > stays
if goes then
  --> remember_fence
  stays, is_counted = latest + remember, true
end
if is_counted then written[k + 1], written[k + 2], k = 'n', pack('>I8I8I1', last, stays, hurry), k + 2 end
if k > 2 then
  if not rows[1] then
    written[k + 1], written[k + 2], k = 'n----------------------------------------------------------------', '', k + 2
  end
  redis.call(unpack(written, 1, k))
end
if gone then redis.call(unpack(gone, 1, n_gone)) end
if goes then
  redis.call('PEXPIREAT', calls, format('%d', stays / 1000 + 1))
  redis.call('SET', calls .. '\nn', format('%d', last > stays and last or stays))
end
