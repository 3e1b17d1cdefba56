-- A lane is a lock or a place: 1 if one call has it alone, 2 if calls share it, 3 if so many do that they are in a set beside it, 0 if nobody
-- has it. Its row is, behind the moment at which it is over, when the last of them ends, until when the last of those who wait keeps its
-- place, which of these it is, and the call, or all that share it by their ends, each behind its end. Whoever has a place shares it.
-- Beside the hash there are, each only while it has members, sorted sets: those many who share it (\ns, by their ends), those who want it
-- for themselves (\nx) and those who would share it (\ny), by their tickets, and the ends of their patience (\nl).
local function lane_of(row)
  if not row then return 0, 0, 0 end
  local _, until_then, queue, kind = read('>I8I8I8I1', row)
  if until_then <= now then kind, until_then = 0, 0 end
  if queue <= now then queue = 0 end
  return kind, until_then, queue
end
