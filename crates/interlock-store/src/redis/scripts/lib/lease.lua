-- The lease as it is stored: its fence, when it ends or ended, and its owner, who is missing once it was given back.
local fence, ends, owner
local lease = redis.call('GET', KEYS[1])
if lease then fence, ends, owner = assert(string.match(lease, '^(%d+) (%d+) (%x*)$')) end
