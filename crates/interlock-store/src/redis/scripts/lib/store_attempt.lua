-- The answer is not formatted with the rest, because it may hold a byte of zero, which ends a text there.
redis.call('SET', KEYS[1], string.format('%s %s %d %d %s %s ', fence, phase, ends, forget, owner, fingerprint) .. answer,
  'PXAT', string.format('%d', forget / 1000 + 1))
