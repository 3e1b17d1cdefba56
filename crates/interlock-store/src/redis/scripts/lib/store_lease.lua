-- The row goes once its fence need not be remembered: so long after the lease has ended, and after the fence's own time, which is later
-- if the clock was ahead when it was granted.
--> remember_fence
redis.call('SET', KEYS[1], fence .. string.format('%016d', ends) .. owner,
  'PXAT', string.format('%d', (math.max(ends, tonumber(fence)) + remember) / 1000 + 1))
