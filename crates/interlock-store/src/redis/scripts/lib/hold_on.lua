-- Gives a call all that it has until `ends`.
put(call, ends .. 'h' .. fence)
for nth = places_at, locks_at + n_locks - 1 do
  local kind, until_now, queue, who = lane_of(rows[nth])
  if nth < locks_at or kind == 's' or kind == 'S' then
    kind, until_now, who = share(nth, kind, others(who), ends)
    put_lane(nth, kind, until_now, queue, who)
  elseif who == call then
    put_lane(nth, 'x', ends, queue, call)
  end
end
if attempt and sub(attempt, 1, 17) == fence .. 'd' then
  local forget = sub(attempt, 34, 49)
  if forget < ends then forget = ends end
  redis.call('SET', KEYS[once_at], fence .. 'd' .. ends .. forget .. sub(attempt, 50), 'PXAT', format('%d', forget / 1000 + 1))
end
local latest, is_counted = ends, false
--> write
