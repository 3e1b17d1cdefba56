-- The lease as it is stored: its fence, when it ends or ended, and its owner, who is missing once it was given back.
local fence, ends, owner
local lease = redis.call('GET', KEYS[1])
if lease then fence, ends, owner = string.sub(lease, 1, 16), tonumber(string.sub(lease, 17, 32)), string.sub(lease, 33) end
