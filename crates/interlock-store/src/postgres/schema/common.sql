-- What the functions of the other files share.
--
-- They all go the same way: take the locks, only then look at the clock, decide as `interlock_sync::decide` does, write. They
-- rely on READ COMMITTED, where every statement of a function sees what was committed before that statement: so also all that
-- happened while the statement before it waited for a lock. `enable_seqscan` is off in them because they keep their plans, and
-- a plan made while a table was small would read it from end to end when it has grown.

-- The clock. Not now(), which is the moment the transaction began: locks may have been waited for since.
CREATE FUNCTION interlock.clock() RETURNS bigint LANGUAGE sql AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;

-- Locks a key whether or not it has a row, until the end of the transaction. Whoever may insert a row takes it first: then an
-- insert never meets another, and what was decided on stays true.
CREATE FUNCTION interlock.hold(class regclass, wanted text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(wanted, class::oid::bigint))
$$;

-- Says that this transaction has nothing to make durable, so that its end need not wait for the disk. A row lock alone would
-- make it wait.
CREATE FUNCTION interlock.nothing_changed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
END
$$;

-- Greater than the last, also if the clock was set back, and also if the last was forgotten.
CREATE FUNCTION interlock.next_fence(last bigint, now bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(last + 1, now)
$$;
