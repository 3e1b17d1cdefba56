-- Writes and removes what was collected, of which nothing lasts longer than `latest`. The hash outlives the last of it by as long as fences
-- are remembered, and its end is set so rarely because of that.
local goes = latest > stays
if goes then
  --> remember_fence
  stays = format('%016d', latest + remember)
  is_counted = true
end
if is_counted then put('n', 'n' .. last .. stays .. cursor) end
if n_written > 2 then redis.call(unpack(written, 1, n_written)) end
if gone then redis.call(unpack(gone, 1, n_gone)) end
if goes then
  redis.call('PEXPIREAT', calls, format('%d', stays / 1000 + 1))
  redis.call('SET', calls .. '\nn', last > stays and last or stays)
end
