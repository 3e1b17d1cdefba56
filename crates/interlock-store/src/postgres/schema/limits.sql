-- Rate limits and in-flight limits.

-- Takes from a bucket (GCRA): `pace` is the time one unit stands for, `capacity` that of a full bucket, `charge` that of what
-- is wanted.
--
-- Neither kind of rate limit waits for the disk: a crash of the server may forget the grants of its last moment, at most three times
-- `wal_writer_delay` (0.6 s unless configured), and nothing older.
CREATE FUNCTION interlock.take_bucket(
    wanted text, pace bigint, capacity bigint, charge bigint, OUT granted boolean, OUT remaining bigint, OUT wait bigint
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    now bigint;
    full_again bigint;
    owed bigint;
BEGIN
    PERFORM interlock.hold('interlock.rates', wanted);
    PERFORM set_config('synchronous_commit', 'off', true);
    now := interlock.clock();
    SELECT r.full_at INTO full_again FROM interlock.rates r WHERE r.key = wanted;
    -- A bucket is never emptier than empty: a moment further off comes from a clock that was set back.
    owed := least(greatest(full_again - now, 0), capacity);
    granted := owed + charge <= capacity;
    IF granted THEN
        owed := owed + charge;
        remaining := (capacity - owed) / pace;
    ELSE
        wait := owed + charge - capacity;
    END IF;
    -- A refusal writes only that the clock was set back; else the bucket would stay empty until the clock has caught up.
    IF granted OR now + owed < full_again THEN
        INSERT INTO interlock.rates VALUES (wanted, now + owed, NULL, now + owed)
            ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at, grants = excluded.grants, idle = excluded.idle;
    END IF;
END
$$;

-- Takes from a log: exactly `most` in any time of length `span`.
CREATE FUNCTION interlock.take_log(
    wanted text, most bigint, span bigint, cost bigint, OUT granted boolean, OUT remaining bigint, OUT wait bigint
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    now bigint;
    stored bigint[];
    kept bigint[];
    used bigint;
    excess bigint;
BEGIN
    PERFORM interlock.hold('interlock.rates', wanted);
    PERFORM set_config('synchronous_commit', 'off', true);
    now := interlock.clock();
    SELECT r.grants INTO stored FROM interlock.rates r WHERE r.key = wanted;
    -- A grant from the future comes from a clock that was set back: it counts as if it had been made now.
    kept := ARRAY(SELECT least(g, now) FROM unnest(stored) g WHERE least(g, now) > now - span ORDER BY 1);
    used := cardinality(kept);
    excess := used + cost - most;
    granted := excess <= 0;
    IF granted THEN
        kept := kept || array_fill(now, ARRAY[cost::integer]);
        remaining := -excess;
    ELSE
        -- Room is there once as many of the oldest grants have left the window as there are too many now.
        wait := kept[excess] + span - now;
    END IF;
    IF granted OR stored[cardinality(stored)] > now THEN
        INSERT INTO interlock.rates VALUES (wanted, NULL, kept, coalesce(kept[cardinality(kept)] + span, now))
            ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at, grants = excluded.grants, idle = excluded.idle;
    END IF;
END
$$;

CREATE FUNCTION interlock.acquire_permit(
    wanted text, asker bytea, most bigint, ttl bigint, OUT granted boolean, OUT in_use bigint, OUT wait bigint
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    now bigint;
    first_end bigint;
    own boolean;
BEGIN
    PERFORM interlock.hold('interlock.permits', wanted);
    now := interlock.clock();
    -- This waits for a renewal that is under way, and leaves the permit if it succeeds. The count must use the same moment: by
    -- a later one a permit could have run out while its renewal is not to be seen yet.
    DELETE FROM interlock.permits p WHERE p.key = wanted AND p.until <= now;
    SELECT count(*), min(p.until), coalesce(bool_or(p.holder = asker), false) INTO in_use, first_end, own
        FROM interlock.permits p WHERE p.key = wanted AND p.until > now;
    granted := own OR in_use < most;
    IF granted THEN
        in_use := in_use + CASE WHEN own THEN 0 ELSE 1 END;
        INSERT INTO interlock.permits VALUES (wanted, asker, interlock.clock() + ttl)
            ON CONFLICT (key, holder) DO UPDATE SET until = excluded.until;
    ELSE
        wait := coalesce(first_end - now, ttl);
        PERFORM interlock.nothing_changed();
    END IF;
END
$$;

CREATE FUNCTION interlock.renew_permit(wanted text, asker bytea, ttl bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held bigint;
    now bigint;
BEGIN
    SELECT p.until INTO held FROM interlock.permits p WHERE p.key = wanted AND p.holder = asker FOR UPDATE;
    now := interlock.clock();
    IF (held > now) IS NOT TRUE THEN
        PERFORM interlock.nothing_changed();
        RETURN false;
    END IF;
    UPDATE interlock.permits p SET until = now + ttl WHERE p.key = wanted AND p.holder = asker;
    RETURN true;
END
$$;

CREATE FUNCTION interlock.release_permit(wanted text, asker bytea) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held bigint;
    now bigint;
BEGIN
    SELECT p.until INTO held FROM interlock.permits p WHERE p.key = wanted AND p.holder = asker FOR UPDATE;
    now := interlock.clock();
    DELETE FROM interlock.permits p WHERE p.key = wanted AND p.holder = asker;
    RETURN coalesce(held > now, false);
END
$$;
