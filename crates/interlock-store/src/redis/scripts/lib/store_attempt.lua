-- The rest is not formatted with the others, because the answer in it may hold a byte of zero, which ends a text there.
redis.call('SET', KEYS[1], string.format('%s%s%016d%016d', fence, phase, ends, forget) .. rest,
  'PXAT', string.format('%d', forget / 1000 + 1))
