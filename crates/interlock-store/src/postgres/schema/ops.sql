-- What operations did, by their ids.
--
-- An `id` that is handed in is the 16 bytes of the op-id and behind them the 16 of the operation's fingerprint, which tells it from
-- another one under the same op-id. A process of the version before hands in no fingerprint, and what it left has none: then every
-- operation counts as the same.

ALTER TABLE interlock.ops ADD COLUMN fingerprint bytea;

-- Writes down what a mutation did. The primary key is the judge between two that carry the same id at the same moment: the
-- later one waits here for the earlier, undoes everything, and is sent again to find what the earlier has left.
CREATE OR REPLACE FUNCTION interlock.remember(id bytea, forget bigint, done interlock.outcome) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO interlock.ops VALUES (
        substr(id, 1, 16), done.at, forget,
        done.key_a, done.from_a, done.to_a, done.number_a,
        done.key_b, done.from_b, done.to_b, done.number_b,
        nullif(substr(id, 17), '')
    ) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the id % is being applied at this moment', id USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

-- What an operation did before; its verdict is null if it is not known, and a mismatch if it was another one. One that was to be
-- forgotten is.
CREATE OR REPLACE FUNCTION interlock.recall(id bytea, now bigint) RETURNS interlock.outcome LANGUAGE plpgsql AS $$
DECLARE
    known interlock.ops;
    done interlock.outcome;
BEGIN
    SELECT * INTO known FROM interlock.ops o WHERE o.op = substr(id, 1, 16);
    IF known.forget > now THEN
        done.verdict := CASE WHEN known.fingerprint <> nullif(substr(id, 17), '') THEN 'mismatch' ELSE 'replayed' END;
        done.at := known.at;
        done.key_a := known.key_a; done.from_a := known.from_a; done.to_a := known.to_a; done.number_a := known.number_a;
        done.key_b := known.key_b; done.from_b := known.from_b; done.to_b := known.to_b; done.number_b := known.number_b;
    ELSIF known.forget IS NOT NULL THEN
        DELETE FROM interlock.ops o WHERE o.op = substr(id, 1, 16);
    END IF;
    RETURN done;
END
$$;

-- Adds to one number many times, in order: each by itself may be refused, each has its own id, version and answer, and only the
-- last is written. So many callers of one hot record share one row lock and one wait for the disk. No id may be among them
-- twice.
CREATE OR REPLACE FUNCTION interlock.add_many(
    wanted text, ids bytea[], deltas bigint[], floors bigint[], keep bigint, lease_key text, lease_fence bigint
) RETURNS SETOF interlock.outcome LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.locked;
    lease interlock.leases;
    now bigint;
    fenced boolean;
    any_known boolean;
    done interlock.outcome;
    new_ids bytea[] := '{}';
    froms bigint[] := '{}';
    tos bigint[] := '{}';
    numbers bigint[] := '{}';
    remembered integer;
BEGIN
    held := interlock.lock_record(wanted);
    IF lease_key IS NOT NULL THEN
        SELECT * INTO lease FROM interlock.leases l WHERE l.key = lease_key FOR SHARE;
    END IF;
    now := interlock.clock();
    fenced := lease_key IS NOT NULL AND (lease.fence = lease_fence AND interlock.is_held(lease, now)) IS NOT TRUE;
    any_known := EXISTS (SELECT FROM interlock.ops o WHERE o.op = ANY (ARRAY(SELECT substr(full_id, 1, 16) FROM unnest(ids) AS full_id)));

    FOR i IN 1 .. cardinality(ids) LOOP
        done := NULL;
        IF any_known THEN
            done := interlock.recall(ids[i], now);
        END IF;
        IF done.verdict IS NULL THEN
            done.at := now;
            done.key_a := wanted;
            done.from_a := held.version;
            IF fenced THEN
                done.verdict := 'fenced';
                done.fence := CASE WHEN interlock.is_held(lease, now) THEN lease.fence END;
            ELSE
                done.verdict := interlock.judge(held.version, held.number, deltas[i], floors[i]);
            END IF;
            IF done.verdict = 'applied' THEN
                -- Drawn under the lock, as in `mutate`.
                held.version := nextval('interlock.versions');
                held.number := held.number + deltas[i];
                done.to_a := held.version;
                new_ids := new_ids || ids[i];
                froms := froms || done.from_a;
                tos := tos || held.version;
                numbers := numbers || held.number;
            END IF;
            done.number_a := held.number;
        END IF;
        RETURN NEXT done;
    END LOOP;

    IF cardinality(new_ids) = 0 THEN
        PERFORM interlock.nothing_changed();
        RETURN;
    END IF;
    INSERT INTO interlock.ops (op, at, forget, key_a, from_a, to_a, number_a, fingerprint)
        SELECT substr(new.id, 1, 16), now, now + keep, wanted, new.from_a, new.to_a, new.number_a, nullif(substr(new.id, 17), '')
        FROM unnest(new_ids, froms, tos, numbers) AS new (id, from_a, to_a, number_a)
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS remembered = ROW_COUNT;
    IF remembered < cardinality(new_ids) THEN
        RAISE EXCEPTION 'one of the ids is being applied at this moment' USING ERRCODE = 'serialization_failure';
    END IF;
    UPDATE interlock.records r SET version = held.version, number = held.number WHERE r.key = wanted;
END
$$;

-- Appends entries to a log, in order and each once per id, and says what became of each. No id may be among them twice.
CREATE OR REPLACE FUNCTION interlock.append_many(wanted text, ids bytea[], items bytea[], keep bigint) RETURNS SETOF interlock.outcome
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    top bigint;
    now bigint;
    any_known boolean;
    done interlock.outcome;
    new_ones bigint[] := '{}';
    remembered integer;
BEGIN
    -- Also locks the log, so that an id which another appends to it at this moment is known afterwards. Places that are not needed then
    -- stay empty.
    INSERT INTO interlock.logs AS l VALUES (wanted, cardinality(ids))
        ON CONFLICT (log) DO UPDATE SET last = l.last + excluded.last
        RETURNING l.last - cardinality(ids) INTO top;
    now := interlock.clock();
    any_known := EXISTS (SELECT FROM interlock.ops o WHERE o.op = ANY (ARRAY(SELECT substr(full_id, 1, 16) FROM unnest(ids) AS full_id)));

    FOR i IN 1 .. cardinality(ids) LOOP
        done := NULL;
        IF any_known THEN
            done := interlock.recall(ids[i], now);
        END IF;
        IF done.verdict IS NULL THEN
            done.verdict := 'applied';
            done.at := now;
            done.key_a := wanted;
            done.to_a := top + i;
            new_ones := new_ones || i::bigint;
        END IF;
        RETURN NEXT done;
    END LOOP;

    IF cardinality(new_ones) = 0 THEN
        PERFORM interlock.nothing_changed();
        RETURN;
    END IF;
    INSERT INTO interlock.ops (op, at, forget, key_a, to_a, fingerprint)
        SELECT substr(new.id, 1, 16), now, now + keep, wanted, top + new.nth, nullif(substr(new.id, 17), '')
        FROM unnest(ids) WITH ORDINALITY AS new (id, nth) WHERE new.nth = ANY (new_ones)
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS remembered = ROW_COUNT;
    IF remembered < cardinality(new_ones) THEN
        RAISE EXCEPTION 'one of the ids is being applied at this moment' USING ERRCODE = 'serialization_failure';
    END IF;
    INSERT INTO interlock.entries
        SELECT wanted, top + new.nth, now, new.entry
        FROM unnest(items) WITH ORDINALITY AS new (entry, nth) WHERE new.nth = ANY (new_ones);
END
$$;
