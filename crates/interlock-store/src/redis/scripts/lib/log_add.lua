-- Adds a grant to a log that has room.
if list or #row - from >= 64 * 12 then
  if not list then
    -- It has become so long that it is moved into a list.
    local grants, so_far = { 'RPUSH', calls .. '\n' .. name }, 0
    for at = from, #row - 1, 12 do
      local moment, its_units = read('>I8I4', row, at)
      so_far = so_far + its_units
      grants[#grants + 1] = format('%016d%010d%016d%016d', so_far, its_units, moment, window)
    end
    redis.call('DEL', grants[2])
    redis.call(unpack(grants))
    total, units, last_grant, its_window = so_far, 0, now, 0
  end
  --> list_add
else
  written[k + 1] = name
  written[k + 2] = pack('>I8I1I4', now + window, 108, used + cost) .. sub(row, from) .. pack('>I8I4', now, cost)
  k = k + 2
  if now + window > latest then latest = now + window end
end
