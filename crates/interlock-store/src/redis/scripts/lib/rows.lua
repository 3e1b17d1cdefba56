-- What admissions, rate limits and attempts know is one hash, so that a script reads all it needs with one call of the server, and writes it
-- with one more. Every value begins with the moment at which it says nothing any more, in 8 bytes. Only the fields that begin with n are
-- about the hash itself: n the last number that was given out, until when the hash stays, and whether the next one shall sweep; nc where
-- the next sweep goes on; ne the epoch; and a long one with nothing in it, without which the server would keep a small hash as a list and look
-- through all of it. Beside the hash, and for ever, there is a number (\nn) that none was greater than before the hash went.
local calls, last, stays, hurry = KEYS[1], 0, 0, 0
if rows[1] then
  last, stays, hurry = read('>I8I8I1', rows[1])
else
  last = tonumber(redis.call('GET', calls .. '\nn') or 0)
end
-- What is to be written and removed in the end, `k` and `n_gone` items of it, of which nothing lasts longer than `latest`. There is room for
-- what is usual, because a table that grows is copied.
local written, k, latest, is_counted = { 'HSET', calls, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }, 2, 0, false
local gone, n_gone = nil, 2
