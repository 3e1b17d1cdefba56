-- Records and their changes.
--
-- Locks are taken in one order, so that nobody waits in a circle: records by their keys, then the lease, then the op-id. The
-- lease is only shared: writes under it do not hinder each other, but nobody can take it over before they are there for all to
-- see.

-- What is needed of a locked record. Its bytes may be many; they are fetched when somebody has to be shown them.
CREATE TYPE interlock.locked AS (version bigint, number bigint);

-- How a mutation came out. A refusal tells in `key_a` which record, in `from_a`, `number_a` and `bytes` how it is, in `fence`
-- who holds the lease.
CREATE TYPE interlock.outcome AS (
    verdict text,
    at bigint,
    key_a text, from_a bigint, to_a bigint, number_a bigint,
    key_b text, from_b bigint, to_b bigint, number_b bigint,
    bytes bytea,
    fence bigint
);

-- A record, locked until the end of the transaction; nulls if there is none at this moment.
CREATE FUNCTION interlock.lock_record(wanted text) RETURNS interlock.locked LANGUAGE plpgsql AS $$
DECLARE
    held interlock.locked;
BEGIN
    LOOP
        SELECT r.version, r.number INTO held FROM interlock.records r WHERE r.key = wanted FOR UPDATE;
        -- A record that was deleted and made again while this waited is hidden from the statement that waited, and not from the next.
        EXIT WHEN FOUND OR NOT EXISTS (SELECT FROM interlock.records r WHERE r.key = wanted);
    END LOOP;
    RETURN held;
END
$$;

-- Whether a number can be added to.
CREATE FUNCTION interlock.judge(version bigint, number bigint, delta bigint, least_left bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN version IS NULL THEN 'missing'
        WHEN number IS NULL THEN 'not-a-number'
        WHEN delta > 0 AND number > 9223372036854775807 - delta THEN 'overflow'
        WHEN delta < 0 AND number < (-9223372036854775807 - 1) - delta THEN 'overflow'
        WHEN number + delta < least_left THEN 'short'
        ELSE 'applied'
    END
$$;

-- Puts, deletes and transfers. `id` goes on to `recall` and `remember` (see ops.sql). `first` is the record or where an amount comes from, `second` where it goes.
CREATE FUNCTION interlock.mutate(
    id bytea, keep bigint, verb text, first text,
    expect text, expected bigint, new_number bigint, new_bytes bytea,
    second text, amount bigint, least_left bigint,
    lease_key text, lease_fence bigint
) RETURNS interlock.outcome LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    a interlock.locked;
    b interlock.locked;
    lease interlock.leases;
    now bigint;
    done interlock.outcome;
BEGIN
    IF second COLLATE "C" < first COLLATE "C" THEN
        b := interlock.lock_record(second);
    END IF;
    a := interlock.lock_record(first);
    IF second COLLATE "C" > first COLLATE "C" THEN
        b := interlock.lock_record(second);
    END IF;
    IF verb = 'put' AND expect IN ('any', 'absent') AND a.version IS NULL THEN
        PERFORM interlock.hold('interlock.records', first);
        a := interlock.lock_record(first);
    END IF;
    IF lease_key IS NOT NULL THEN
        SELECT * INTO lease FROM interlock.leases l WHERE l.key = lease_key FOR SHARE;
    END IF;
    now := interlock.clock();

    done := interlock.recall(id, now);
    IF done.verdict IS NOT NULL THEN
        PERFORM interlock.nothing_changed();
        RETURN done;
    END IF;

    done.verdict := 'applied';
    done.at := now;
    done.key_a := first;
    done.from_a := a.version;
    IF lease_key IS NOT NULL AND (lease.fence = lease_fence AND interlock.is_held(lease, now)) IS NOT TRUE THEN
        done.verdict := 'fenced';
        done.fence := CASE WHEN interlock.is_held(lease, now) THEN lease.fence END;
    ELSIF verb IN ('put', 'delete') THEN
        IF (CASE expect
            WHEN 'any' THEN verb = 'put' OR a.version IS NOT NULL
            WHEN 'absent' THEN verb = 'put' AND a.version IS NULL
            WHEN 'present' THEN a.version IS NOT NULL
            ELSE a.version = expected
        END) IS NOT TRUE THEN
            done.verdict := 'conflict';
            done.number_a := a.number;
            SELECT r.bytes INTO done.bytes FROM interlock.records r WHERE r.key = first AND a.version IS NOT NULL;
        END IF;
    ELSE
        done.number_a := a.number;
        done.verdict := CASE WHEN amount > 0 THEN interlock.judge(a.version, a.number, -amount, least_left) ELSE 'not-a-number' END;
        IF done.verdict = 'applied' AND second <> first THEN
            done.verdict := interlock.judge(b.version, b.number, amount, NULL);
            done.key_a := CASE WHEN done.verdict = 'applied' THEN first ELSE second END;
        END IF;
    END IF;
    IF done.verdict <> 'applied' THEN
        PERFORM interlock.nothing_changed();
        RETURN done;
    END IF;

    -- Drawn under the locks: a version drawn before could be smaller than one that was committed while this waited.
    IF verb = 'put' THEN
        done.to_a := nextval('interlock.versions');
        done.number_a := new_number;
    ELSIF verb = 'transfer' THEN
        done.to_a := nextval('interlock.versions');
        IF second <> first THEN
            done.number_a := a.number - amount;
            done.key_b := second;
            done.from_b := b.version;
            done.to_b := nextval('interlock.versions');
            done.number_b := b.number + amount;
        END IF;
    END IF;
    PERFORM interlock.remember(id, now + keep, done);

    IF verb = 'put' THEN
        INSERT INTO interlock.records VALUES (first, done.to_a, new_number, new_bytes)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, number = excluded.number, bytes = excluded.bytes;
    ELSIF verb = 'delete' THEN
        DELETE FROM interlock.records r WHERE r.key = first;
    ELSE
        UPDATE interlock.records r SET version = done.to_a, number = done.number_a WHERE r.key = first;
        UPDATE interlock.records r SET version = done.to_b, number = done.number_b WHERE r.key = done.key_b;
    END IF;
    RETURN done;
END
$$;
