-- Whether the record, of which at least the beginning is here, is as expected.
local from = record and string.sub(record, 1, 16)
if record then
  local kind = string.byte(record, 17)
  assert(kind == 110 or kind == 98, 'not a record')
end
local met = expect == 'any'
if expect == 'absent' then
  met = not from
elseif not met then
  met = from and (expect == 'present' or expect == from)
end
