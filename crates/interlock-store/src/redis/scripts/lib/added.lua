-- The version of a record, and the sum as digits if something may be added to its number; else why not.
local function added(name, key, row, delta, floor)
  if not row then
    -- Something that is no string was passed over as if it were not there; this is not, and ends the script.
    redis.call('STRLEN', key)
    return nil, nil, 'missing\n' .. name
  end
  local from, kind, number = string.sub(row, 1, 16), string.byte(row, 17), string.sub(row, 18)
  if kind ~= 110 then
    assert(kind == 98, 'not a record')
    return nil, nil, 'not-a-number\n' .. name
  end
  if #number <= 15 and #delta <= 15 and #floor <= 15 then
    -- Doubles are exact for these, and for their sum.
    local sum = number + delta
    if floor ~= '' and sum < tonumber(floor) then return nil, nil, 'short\n' .. name .. '\n' .. number end
    return from, string.format('%d', sum)
  end
  --> whole
  local sum = plus(whole(number), whole(delta))
  if less(sum, whole('-9223372036854775808')) or less(whole('9223372036854775807'), sum) then
    return nil, nil, 'overflow\n' .. name
  end
  if floor ~= '' and less(sum, whole(floor)) then return nil, nil, 'short\n' .. name .. '\n' .. number end
  return from, digits_of(sum)
end
