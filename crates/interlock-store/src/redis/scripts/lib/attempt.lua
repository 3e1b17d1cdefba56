-- The attempt as it is stored: its fence, how far it got (reserved, dispatched, completed or failed, by the first letter), when its time
-- ends, when it is to be forgotten, its owner, its fingerprint and its answer.
local fence, phase, ends, forget, owner, fingerprint, answer
local attempt = redis.call('GET', KEYS[1])
if attempt then
  fence, phase, ends, forget, owner, fingerprint, answer =
    assert(string.match(attempt, '^(%d+) ([rdcf]) (%d+) (%d+) (%x+) (%x+) (.*)$'))
end
