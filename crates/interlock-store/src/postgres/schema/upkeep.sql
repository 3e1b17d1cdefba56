-- Logs, and the removal of what has expired.

-- Appends entries to a log, in order and each once per id, and says what became of each. No id may be among them twice.
CREATE FUNCTION interlock.append_many(wanted text, ids bytea[], items bytea[], keep bigint) RETURNS SETOF interlock.outcome
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
    any_known := EXISTS (SELECT FROM interlock.ops o WHERE o.op = ANY (ids));

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
    INSERT INTO interlock.ops
        SELECT new.id, now, now + keep, wanted, NULL, top + new.nth
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

-- Removes what has expired, at most so much of each kind, and says how much that was. What somebody has locked is in use, and
-- left for the next time, so this waits for nobody. A lease is kept a day longer than it lasts and than its fence's
-- own time: longer than a clock is ever set back by.
CREATE FUNCTION interlock.sweep(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    now bigint := interlock.clock();
    day CONSTANT bigint := 86400000000;
    removed bigint;
    total bigint := 0;
BEGIN
    DELETE FROM interlock.ops WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM interlock.ops o WHERE o.forget <= now ORDER BY o.forget LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.attempts WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM interlock.attempts t WHERE t.forget <= now ORDER BY t.forget LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.leases WHERE ctid = ANY (ARRAY(
        SELECT l.ctid FROM interlock.leases l WHERE greatest(l.until, l.fence) <= now - day LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.permits WHERE ctid = ANY (ARRAY(
        SELECT p.ctid FROM interlock.permits p WHERE p.until <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.rates WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM interlock.rates r WHERE r.idle <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    RETURN total;
END
$$;
