-- A lease as it is stored: its fence, when it ends or ended, and its owner, who is missing once it was given back.
local LEASE = '^(%d+) (%d+) (%x*)$'

-- The row goes once its fence need not be remembered: so long after the lease has ended, and after the fence's own time, which is later
-- if the clock was ahead when it was granted.
local function store_lease(key, fence, ends, owner, remember)
  local forget = math.max(ends, tonumber(fence)) + tonumber(remember)
  redis.call('SET', key, fence .. ' ' .. text(ends) .. ' ' .. owner, 'PXAT', millisecond_after(forget))
end
