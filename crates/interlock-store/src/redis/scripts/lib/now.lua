-- The server's time in µs since 1970: never a client's. A Lua number is a double, which holds it exactly until the year 2255.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
