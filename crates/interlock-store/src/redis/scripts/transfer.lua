-- Moves an amount from one number to another, once per op-id.
-- KEYS: op, version, record, other record, [lease]
-- ARGV: how long to remember the op (ms), fence or '', name of the record, name of the other, amount, floor
local rows = redis.call('MGET', unpack(KEYS))
--> once
--> added
local name, other, amount = ARGV[3], ARGV[4], ARGV[5]
if amount == '0' or string.sub(amount, 1, 1) == '-' then return { 'not-a-number', name } end
local from, rest, refusal = added(name, KEYS[3], rows[3], '-' .. amount, ARGV[6])
if refusal then return refusal end
local to, report = string.format('%d', version), string.format('%d\n', now) .. name .. '\n' .. from .. '\n'
if other == name then
  local number = string.match(rows[3], ' n(.*)$')
  redis.call('MSET', KEYS[2], to, KEYS[3], to .. ' n' .. number)
  report = report .. to .. '\n' .. number
else
  local from_other, sum, refused = added(other, KEYS[4], rows[4], amount, nil)
  if refused then return refused end
  local to_other = string.format('%d', version + 1)
  redis.call('MSET', KEYS[2], to_other, KEYS[3], to .. ' n' .. rest, KEYS[4], to_other .. ' n' .. sum)
  report = report .. to .. '\n' .. rest .. '\n' .. other .. '\n' .. from_other .. '\n' .. to_other .. '\n' .. sum
end
redis.call('SET', KEYS[1], report, 'PX', ARGV[1])
return { 'applied', '0', report }
