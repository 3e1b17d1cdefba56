-- A whole number as text. Lua's own conversion keeps 14 digits, and a time in µs has 16. Not as '%.0f', which takes three times as long;
-- no number here comes near the 2^63 that '%d' can hold.
local function text(number)
  return string.format('%d', number)
end

-- The first whole millisecond at which a moment in µs has certainly passed.
local function millisecond_after(moment)
  return text(math.floor(moment / 1000) + 1)
end

-- Lets a key go once a moment has passed. What a script decides, it decides by the moment that is stored; this only clears up.
local function forget_after(key, moment)
  redis.call('PEXPIREAT', key, millisecond_after(moment))
end

-- The parts of a row as a pattern tells them; nothing of no row. One that is not ours is an error, before anything is written.
local function parts(row, pattern)
  if row then return assert(string.match(row, pattern)) end
end

-- Greater than the last one, and greater than all that were given out before the server lost its data or went back in time.
local function next_after(last, now)
  return math.max((tonumber(last or 0)) + 1, now)
end
