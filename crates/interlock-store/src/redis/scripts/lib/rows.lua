-- What admissions know is one hash, so that a script reads all it needs with one call of the server, and writes it with one more.
-- Every value begins with the moment at which it says nothing any more. Moments and numbers are texts of 16 digits, to be compared as they
-- are. Only the field n begins with a letter: the last number that was given out, until when the hash itself stays, and where the
-- next sweep goes on. Beside the hash, and for ever, there is a number (\nn) that none was greater than before the hash went.
local calls, NEVER, at_now = KEYS[1], '0000000000000000', format('%016d', now)
local last, stays, cursor = NEVER, NEVER, '0'
if rows[1] then
  last, stays, cursor = sub(rows[1], 2, 17), sub(rows[1], 18, 33), sub(rows[1], 34)
else
  last = redis.call('GET', calls .. '\nn') or NEVER
end
-- What is to be written and removed in the end. There is room for what is usual, because a table that grows is copied.
local written, n_written = { 'HSET', calls, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }, 2
local gone, n_gone = nil, 2

local function put(field, row)
  written[n_written + 1], written[n_written + 2] = field, row
  n_written = n_written + 2
end

local function remove(field)
  gone = gone or { 'HDEL', calls, nil, nil, nil }
  n_gone = n_gone + 1
  gone[n_gone] = field
end
