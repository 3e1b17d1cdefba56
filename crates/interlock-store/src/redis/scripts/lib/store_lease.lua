-- The row goes once its fence need not be remembered: so long after the lease has ended, and after the fence's own time, which is later
-- if the clock was ahead when it was granted.
redis.call('SET', KEYS[1], string.format('%s %d %s', fence, ends, owner),
  'PXAT', string.format('%d', (math.max(ends, tonumber(fence)) + remember) / 1000 + 1))
