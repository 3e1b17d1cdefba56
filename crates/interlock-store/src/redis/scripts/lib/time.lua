-- The server's time in µs since 1970: never a client's. A Lua number is a double, which holds it exactly until the year 2255.
local function now_in_micros()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
