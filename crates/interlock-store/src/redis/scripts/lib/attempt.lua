-- The attempt as it is stored: its fence, how far it got (reserved, dispatched, completed or failed, by the first letter), when its time
-- ends, when it is to be forgotten, and then its owner, its fingerprint and its answer.
local fence, phase, ends, forget
local attempt = redis.call('GET', KEYS[1])
if attempt then
  fence, phase = string.sub(attempt, 1, 16), string.sub(attempt, 17, 17)
  ends, forget = tonumber(string.sub(attempt, 18, 33)), tonumber(string.sub(attempt, 34, 49))
end
