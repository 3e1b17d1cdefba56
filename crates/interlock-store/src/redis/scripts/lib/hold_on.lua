-- Gives a call all that it has until `ends`.
--> crowd
put(call, pack('>I8I8I1', ends, fence, 104), ends)
for nth = places_at, locks_at + n_locks - 1 do
  local row = rows[nth]
  local kind, _, queue = lane_of(row)
  if nth < locks_at or kind == 2 or kind == 3 then
    share(nth, kind, kind == 2 and others(row) or '', queue, ends)
  elseif kind == 1 and sub(row, 26) == call then
    put_lane(nth, 1, ends, queue, call)
  end
end
local attempt = is_once == 1 and rows[once_at]
if attempt then
  local forget, its_fence, _, phase = read('>I8I8I8I1', attempt)
  if its_fence == fence and phase == 100 then
    if forget < ends then forget = ends end
    put(names[once_at], pack('>I8I8I8I1', forget, fence, ends, 100) .. sub(attempt, 26), forget)
  end
end
--> write
