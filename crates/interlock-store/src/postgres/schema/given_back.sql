-- What is given back stays given back: a call that held locks or places ends durably, also if it changed nothing and has no ending to store.
-- Otherwise a crash of the server brought its locks back for the time of a whole call.

-- Ends a call: versions rise, its effect's ending is stored, then its locks and places are given back, or it leaves the line.
CREATE OR REPLACE FUNCTION interlock.settle(
    asker bytea, held_fence bigint, places text[], locks text[], once text, ending text, says bytea, keep bigint,
    who text, changed text[], is_success boolean, remember bigint
) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    now bigint;
    own interlock.calls;
    raised bigint;
    is_known boolean := false;
    new_ones text[];
    known_ones text[];
BEGIN
    PERFORM interlock.hold_all(asker, NULL, once, places, locks, changed, NULL);
    now := interlock.clock();
    IF held_fence IS NOT NULL AND cardinality(changed) > 0 THEN
        -- What this very call raised last was settled before. Whoever did not know what it changed does not know what is there now.
        SELECT array_agg(n.key), array_agg(n.key) FILTER (WHERE v.key IS NOT NULL AND coalesce(c.version, v.version) = v.version)
            INTO new_ones, known_ones
            FROM unnest(changed) AS n (key)
            LEFT JOIN interlock.changes c ON c.key = n.key AND c.forget > now
            LEFT JOIN interlock.views v ON v.reader = who AND v.key = n.key AND v.forget > now
            WHERE c.by IS DISTINCT FROM asker;
        IF new_ones IS NOT NULL THEN
            raised := nextval('interlock.versions');
            INSERT INTO interlock.changes AS c SELECT n.key, raised, asker, now + remember FROM unnest(new_ones) AS n (key)
                ON CONFLICT (key) DO UPDATE SET
                    version = excluded.version, by = excluded.by, forget = greatest(c.forget, excluded.forget);
        END IF;
        IF is_success AND known_ones IS NOT NULL THEN
            INSERT INTO interlock.views SELECT who, n.key, raised, now + remember FROM unnest(known_ones) AS n (key) ORDER BY n.key
                ON CONFLICT (reader, key) DO UPDATE SET version = excluded.version, forget = excluded.forget;
        END IF;
    END IF;
    IF once IS NOT NULL AND held_fence IS NOT NULL AND ending IS NOT NULL THEN
        UPDATE interlock.attempts t SET phase = ending, answer = says, forget = now + keep
            WHERE t.key = once AND t.fence = held_fence AND t.forget > now AND CASE t.phase
                WHEN 'reserved' THEN t.until > now
                WHEN 'dispatched' THEN true
                ELSE t.phase = ending AND t.answer = says
            END;
        is_known := FOUND;
    ELSIF once IS NOT NULL AND held_fence IS NULL THEN
        -- It never ran, so the next may take the key.
        UPDATE interlock.attempts t SET phase = 'reserved', until = now
            WHERE t.key = once AND t.owner = asker AND t.phase = 'dispatched' AND t.until > now;
        is_known := FOUND;
    END IF;
    SELECT * INTO own FROM interlock.calls c WHERE c.call = asker AND c.until > now;
    -- A place in line is lost by silence within seconds. What was held would stay for as long as calls may take.
    IF own.fence IS NULL AND new_ones IS NULL AND NOT is_known THEN
        PERFORM interlock.nothing_changed();
    END IF;
    IF own.call IS NULL OR (held_fence IS NOT NULL AND own.fence IS DISTINCT FROM held_fence) THEN
        RETURN false;
    END IF;
    PERFORM interlock.forget_call(asker, own.ticket, places, locks);
    RETURN true;
END
$$;
