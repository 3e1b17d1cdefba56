-- Gives a call all that it has until `ends`.
redis.call('SET', KEYS[2], string.format('h%s%016d', fence, ends), 'PXAT', string.format('%d', ends / 1000 + 1))
for nth = places_at, places_at + n_places - 1 do share(KEYS[nth], call, ends) end
for nth = locks_at, locks_at + n_locks - 1 do
  local kind, until_now, queue, holder = lane_of(rows[nth])
  if kind == 's' then
    put_lane(KEYS[nth], 's', share(KEYS[nth], call, ends), queue, '')
  elseif holder == call then
    put_lane(KEYS[nth], 'x', ends, queue, call)
  end
end
if once_at then
  local attempt = rows[once_at]
  if attempt and string.sub(attempt, 1, 16) == fence and string.sub(attempt, 17, 17) == 'd' then
    local forget = math.max(tonumber(string.sub(attempt, 34, 49)), ends)
    redis.call('SET', KEYS[once_at], string.format('%sd%016d%016d', fence, ends, forget) .. string.sub(attempt, 50),
      'PXAT', string.format('%d', forget / 1000 + 1))
  end
end
