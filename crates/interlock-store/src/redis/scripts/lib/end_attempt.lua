-- Stores how an attempt ended, if its fence is this one and it may still end so: `is_ended` then. What was dispatched can be ended late, because
-- nobody takes it over.
-- An attempt is, behind the moment at which it is forgotten, its fence, when its time ends, how far it got (reserved, dispatched, completed or
-- failed, by the first letter; a great one if the answer is so long that it is beside the hash), its owner, its fingerprint and its answer.
local forget, its_fence, until_then, phase = read('>I8I8I8I1', attempt)
local is_ended = false
if its_fence == fence and forget > now then
  is_ended = phase == 100 or (phase == 114 and until_then > now)
  if not is_ended and (phase == how or phase == how - 32) then
    local text = sub(attempt, 75)
    if phase ~= how then text = redis.call('GET', calls .. '\n' .. name) end
    is_ended = text == answer
  end
  if is_ended then
    forget = now + kept
    local rest = sub(attempt, 26, 74)
    if #answer > 256 then
      redis.call('SET', calls .. '\n' .. name, answer, 'PXAT', format('%d', forget / 1000 + 1))
      written[k + 2] = pack('>I8I8I8I1', forget, fence, until_then, how - 32) .. rest
    else
      written[k + 2] = pack('>I8I8I8I1', forget, fence, until_then, how) .. rest .. answer
    end
    written[k + 1], k = name, k + 2
    if forget > latest then latest = forget end
  end
end
