-- How an attempt ended, as it is told again. A long answer is beside the hash; one that has gone cannot be told.
local text = sub(attempt, 75)
if phase == 67 or phase == 70 then text = redis.call('GET', calls .. '\n' .. name) end
local told = text and ((phase == 99 or phase == 67) and 'completed\n' or 'failed\n') .. text
