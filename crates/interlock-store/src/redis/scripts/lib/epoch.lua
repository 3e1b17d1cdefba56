-- Whether the server still knows what it granted to this client and to others. An epoch is drawn when there is none, and again when grants were
-- forgotten. It is in the hash, and beside it for ever, so that a hash that went because nothing was asked for long is not taken for a loss.
-- The client says the longest for which it ever asked, how long ago the run of its server began (0 if that does not matter), whether that
-- run may lack what the one before had granted (1), or lacks it by what the client has seen (2), the epoch that it knows, one to take if a new
-- one is due, and the run. What the store has is an epoch, the run that it was last told of, and until when nothing that holds is granted.
if ARGV[3] then
  local longest, ago, doubt, known, fresh, run = read('>I8I8I1c16c16c40', ARGV[3])
  local nobody, no_run = string.rep('\0', 16), string.rep('0', 40)
  local row, its, its_run, closed = epoch or redis.call('GET', calls .. '\ne'), nil, no_run, 0
  if row then its, its_run, closed = read('>c16c40I8', row) end
  local is_other_run = doubt > 0 and its_run ~= run and (doubt == 2 or its_run ~= no_run)
  local is_other_epoch = known ~= nobody and known ~= its
  local is_new = false
  if is_other_epoch or is_other_run or doubt == 2 then
    local from = is_other_epoch and now or now - ago
    if closed < from + longest then closed, is_new = from + longest, true end
  end
  if not its or is_other_run then its, is_new = fresh, true end
  if run ~= no_run and run ~= its_run then its_run, is_new = run, true end
  if is_new then
    row = pack('>c16c40I8', its, its_run, closed)
    redis.call('SET', calls .. '\ne', row)
  end
  -- A hash that is not there yet is made by what is granted, which also says until when it stays.
  if rows[1] and (is_new or not epoch) then redis.call('HSET', calls, 'ne', row) end
  -- Nothing was decided: the client asks again, with what it knows now.
  if is_new or known ~= its then return 'epoch\n' .. its end
  if closed > now then return format('forgot\n%d', closed - now) end
end
