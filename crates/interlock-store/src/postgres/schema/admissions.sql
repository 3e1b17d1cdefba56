-- Admissions: decided as `interlock_sync::decide::admit` does, in one statement.
--
-- Every function first takes the locks of all keys that it names, in the order of their hashes, and reads and writes only then. So two of
-- them never wait for each other in a circle, and what one decides on stays true until it has written. The functions for a single rate limit
-- or attempt take one such lock, or one row, and wait for nothing while they have it. Only views are written by several at once, those of one
-- reader, and so in the order of their keys.

-- Locks keys until the end of the transaction: those that are only looked at together with others who look.
CREATE FUNCTION interlock.hold_all(
    asker bytea, rates text[], once text, places text[], locks text[], changed text[], seen text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    wanted record;
BEGIN
    FOR wanted IN
        SELECT k.hash, bool_and(k.is_shared) AS is_shared FROM (
            SELECT hashtextextended(encode(asker, 'hex'), 'interlock.calls'::regclass::oid::bigint) AS hash, false AS is_shared
            UNION ALL
            SELECT hashtextextended(n, 'interlock.rates'::regclass::oid::bigint), false FROM unnest(rates) n
            UNION ALL
            SELECT hashtextextended(once, 'interlock.attempts'::regclass::oid::bigint), false WHERE once IS NOT NULL
            UNION ALL
            SELECT hashtextextended(n, 'interlock.waiters'::regclass::oid::bigint), false FROM unnest(places) n
            UNION ALL
            SELECT hashtextextended(n, 'interlock.holders'::regclass::oid::bigint), false FROM unnest(locks) n
            UNION ALL
            SELECT hashtextextended(n, 'interlock.changes'::regclass::oid::bigint), false FROM unnest(changed) n
            UNION ALL
            SELECT hashtextextended(n, 'interlock.changes'::regclass::oid::bigint), true FROM unnest(seen) n
        ) k GROUP BY k.hash ORDER BY k.hash
    LOOP
        IF wanted.is_shared THEN
            PERFORM pg_advisory_xact_lock_shared(wanted.hash);
        ELSE
            PERFORM pg_advisory_xact_lock(wanted.hash);
        END IF;
    END LOOP;
END
$$;

-- How long one more has to wait for a rate limit; null if it need not. The numbers are those of take_bucket, or of take_log.
CREATE FUNCTION interlock.rate_wait(wanted text, kind text, first bigint, second bigint, third bigint, now bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    stored interlock.rates;
    owed bigint;
    kept bigint[];
    excess bigint;
BEGIN
    SELECT * INTO stored FROM interlock.rates r WHERE r.key = wanted;
    IF kind = 'bucket' THEN
        owed := least(greatest(stored.full_at - now, 0), second);
        RETURN CASE WHEN owed + third > second THEN owed + third - second END;
    END IF;
    kept := ARRAY(SELECT least(g, now) FROM unnest(stored.grants) g WHERE least(g, now) > now - second ORDER BY 1);
    excess := cardinality(kept) + 1 - first;
    RETURN CASE WHEN excess > 0 THEN kept[excess] + second - now END;
END
$$;

-- How many stand before a ticket, and when the first of them who is in the way loses its place.
CREATE FUNCTION interlock.line(
    of_places boolean, wanted text, own_ticket bigint, would_share boolean, now bigint, OUT ahead bigint, OUT first_end bigint
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    SELECT count(*) INTO ahead FROM interlock.waiters w
        WHERE w.is_place = of_places AND w.key = wanted AND w.ticket < own_ticket AND w.until > now;
    IF ahead > 0 THEN
        SELECT w.until INTO first_end FROM interlock.waiters w
            WHERE w.is_place = of_places AND w.key = wanted AND w.ticket < own_ticket AND w.until > now
                AND NOT (w.is_shared AND would_share)
            ORDER BY w.ticket LIMIT 1;
    END IF;
END
$$;

-- Gives a call all that it has until `ends`.
CREATE FUNCTION interlock.hold_on(
    asker bytea, held_fence bigint, places text[], locks text[], once text, ends bigint
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE interlock.calls c SET until = ends WHERE c.call = asker;
    UPDATE interlock.holders h SET until = ends WHERE h.is_place AND h.key = ANY (places) AND h.call = asker;
    UPDATE interlock.holders h SET until = ends WHERE NOT h.is_place AND h.key = ANY (locks) AND h.call = asker;
    UPDATE interlock.attempts t SET until = ends, forget = greatest(t.forget, ends)
        WHERE t.key = once AND t.fence = held_fence AND t.phase = 'dispatched';
END
$$;

-- Takes a call out of all its lines, and from all that it has.
CREATE FUNCTION interlock.forget_call(asker bytea, own_ticket bigint, places text[], locks text[]) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF own_ticket IS NULL THEN
        DELETE FROM interlock.holders h WHERE h.is_place AND h.key = ANY (places) AND h.call = asker;
        DELETE FROM interlock.holders h WHERE NOT h.is_place AND h.key = ANY (locks) AND h.call = asker;
    ELSE
        DELETE FROM interlock.waiters w WHERE w.is_place AND w.key = ANY (places) AND w.ticket = own_ticket;
        DELETE FROM interlock.waiters w WHERE NOT w.is_place AND w.key = ANY (locks) AND w.ticket = own_ticket;
    END IF;
    DELETE FROM interlock.calls c WHERE c.call = asker;
END
$$;

-- Decides whether a call may run now. `wanted` in the answer are places in the lists of what was asked, from 1.
CREATE FUNCTION interlock.admit(
    asker bytea, ttl bigint, patience bigint, remember bigint, is_again boolean,
    rates text[], rate_kinds text[], firsts bigint[], seconds bigint[], thirds bigint[],
    places text[], limits bigint[], locks text[], would_share boolean[],
    once text, says bytea, keep bigint, who text, observed text[], fresh text[],
    OUT verdict text, OUT fence bigint, OUT wait bigint, OUT ahead bigint, OUT wanted bigint[], OUT had boolean[], OUT answer bytea
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    durability CONSTANT text := current_setting('synchronous_commit');
    day CONSTANT bigint := 86400000000;
    no_ticket CONSTANT bigint := 9223372036854775807;
    now bigint;
    own interlock.calls;
    held interlock.attempts;
    here bigint;
    ends bigint;
    in_use bigint;
    queue record;
    full_place bigint;
    full_until bigint;
BEGIN
    PERFORM interlock.hold_all(asker, rates, once, places, locks, NULL, observed || fresh);
    -- What is not a grant need not survive a crash of the server.
    PERFORM interlock.nothing_changed();
    now := interlock.clock();
    SELECT * INTO own FROM interlock.calls c WHERE c.call = asker AND c.until > now;
    IF own.fence IS NOT NULL THEN
        verdict := 'granted';
        fence := own.fence;
        PERFORM interlock.hold_on(asker, own.fence, places, locks, once, now + ttl);
        PERFORM set_config('synchronous_commit', durability, true);
        RETURN;
    END IF;

    IF NOT is_again AND own.ticket IS NULL THEN
        FOR i IN 1 .. cardinality(rates) LOOP
            here := interlock.rate_wait(rates[i], rate_kinds[i], firsts[i], seconds[i], thirds[i], now);
            IF here IS NOT NULL THEN
                -- It has no room, so this takes nothing; but it puts right what a clock that was set back has left.
                IF rate_kinds[i] = 'bucket' THEN
                    PERFORM interlock.take_bucket(rates[i], firsts[i], seconds[i], thirds[i]);
                ELSE
                    PERFORM interlock.take_log(rates[i], firsts[i], seconds[i], thirds[i]);
                END IF;
                IF verdict IS NULL OR here > wait THEN
                    verdict := 'too-often';
                    wait := here;
                    wanted := ARRAY[i];
                END IF;
            END IF;
        END LOOP;
        IF verdict IS NOT NULL THEN
            RETURN;
        END IF;
        FOR i IN 1 .. cardinality(rates) LOOP
            IF rate_kinds[i] = 'bucket' THEN
                PERFORM interlock.take_bucket(rates[i], firsts[i], seconds[i], thirds[i]);
            ELSE
                PERFORM interlock.take_log(rates[i], firsts[i], seconds[i], thirds[i]);
            END IF;
        END LOOP;
    END IF;

    IF once IS NOT NULL THEN
        SELECT * INTO held FROM interlock.attempts t WHERE t.key = once FOR UPDATE;
        IF held.forget > now AND NOT (held.phase = 'reserved' AND held.until <= now) THEN
            IF held.fingerprint <> says THEN
                verdict := 'mismatch';
            ELSIF held.phase IN ('completed', 'failed') THEN
                verdict := held.phase;
                answer := held.answer;
            ELSIF held.phase = 'dispatched' AND held.until <= now THEN
                verdict := 'in-doubt';
            ELSIF NOT (held.phase = 'reserved' AND held.owner = asker) THEN
                verdict := 'same';
                wait := held.until - now;
            END IF;
        END IF;
    END IF;

    ahead := 0;
    IF verdict IS NULL THEN
        FOR i IN 1 .. cardinality(locks) LOOP
            SELECT max(h.until) INTO ends FROM interlock.holders h
                WHERE NOT h.is_place AND h.key = locks[i] AND h.until > now AND NOT (h.is_shared AND would_share[i]);
            queue := interlock.line(false, locks[i], coalesce(own.ticket, no_ticket), would_share[i], now);
            ahead := greatest(ahead, queue.ahead);
            ends := coalesce(ends, queue.first_end);
            IF ends IS NOT NULL THEN
                verdict := 'locks';
                wanted := wanted || i::bigint;
                wait := greatest(wait, ends - now);
            END IF;
        END LOOP;
        FOR i IN 1 .. cardinality(places) LOOP
            SELECT count(*), min(h.until) INTO in_use, ends FROM interlock.holders h
                WHERE h.is_place AND h.key = places[i] AND h.until > now;
            queue := interlock.line(true, places[i], coalesce(own.ticket, no_ticket), false, now);
            ahead := greatest(ahead, queue.ahead);
            -- Those who came before are left a place each.
            IF full_place IS NULL AND in_use + queue.ahead >= limits[i] THEN
                full_place := i;
                full_until := coalesce(CASE WHEN in_use >= limits[i] THEN ends ELSE queue.first_end END, now + ttl);
            END IF;
        END LOOP;
        IF verdict IS NULL AND full_place IS NOT NULL THEN
            verdict := 'place';
            wanted := ARRAY[full_place];
            wait := full_until - now;
        END IF;
    END IF;
    IF verdict IN ('locks', 'place') AND patience > 0 THEN
        own.ticket := coalesce(own.ticket, nextval('interlock.tickets'));
        ends := now + patience;
        INSERT INTO interlock.calls VALUES (asker, own.ticket, NULL, ends)
            ON CONFLICT (call) DO UPDATE SET ticket = excluded.ticket, fence = excluded.fence, until = excluded.until;
        INSERT INTO interlock.waiters
            SELECT false, l.key, own.ticket, l.is_shared, ends FROM unnest(locks, would_share) AS l (key, is_shared)
            UNION ALL
            SELECT true, p.key, own.ticket, false, ends FROM unnest(places) AS p (key)
            ON CONFLICT (is_place, key, ticket) DO UPDATE SET until = excluded.until;
        RETURN;
    END IF;

    -- What it must have seen is judged now that nothing else is in its way.
    IF verdict IS NULL AND cardinality(fresh) > 0 THEN
        SELECT array_agg(f.nth ORDER BY f.nth), array_agg(v.key IS NOT NULL ORDER BY f.nth) INTO wanted, had
            FROM unnest(fresh) WITH ORDINALITY AS f (key, nth)
            LEFT JOIN interlock.changes c ON c.key = f.key AND c.forget > now
            LEFT JOIN interlock.views v ON v.reader = who AND v.key = f.key AND v.forget > now
            WHERE v.key IS NULL OR c.version <> v.version;
        IF wanted IS NOT NULL THEN
            verdict := 'stale';
        END IF;
    END IF;
    IF own.ticket IS NOT NULL THEN
        PERFORM interlock.forget_call(asker, own.ticket, places, locks);
    END IF;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;

    verdict := 'granted';
    ends := now + ttl;
    SELECT max(f.fence) INTO fence FROM interlock.fences f WHERE f.key = ANY (locks);
    fence := interlock.next_fence(greatest(fence, held.fence), now);
    INSERT INTO interlock.calls VALUES (asker, NULL, fence, ends)
        ON CONFLICT (call) DO UPDATE SET ticket = excluded.ticket, fence = excluded.fence, until = excluded.until;
    IF cardinality(locks) + cardinality(places) > 0 THEN
        -- Whose time is over has lost it for good, also if the clock is set back.
        DELETE FROM interlock.holders h WHERE NOT h.is_place AND h.key = ANY (locks) AND h.until <= now;
        DELETE FROM interlock.holders h WHERE h.is_place AND h.key = ANY (places) AND h.until <= now;
        INSERT INTO interlock.holders
            SELECT false, l.key, asker, l.is_shared, ends FROM unnest(locks, would_share) AS l (key, is_shared)
            UNION ALL
            SELECT true, p.key, asker, true, ends FROM unnest(places) AS p (key)
            ON CONFLICT (is_place, key, call) DO UPDATE SET is_shared = excluded.is_shared, until = excluded.until;
    END IF;
    IF cardinality(locks) > 0 THEN
        INSERT INTO interlock.fences SELECT l.key, admit.fence, greatest(ends, admit.fence) + day FROM unnest(locks) AS l (key)
            ON CONFLICT (key) DO UPDATE SET fence = excluded.fence, forget = excluded.forget;
    END IF;
    IF once IS NOT NULL THEN
        INSERT INTO interlock.attempts
            VALUES (once, says, asker, fence, 'dispatched', ends, NULL, greatest(ends, now + keep))
            ON CONFLICT (key) DO UPDATE SET
                fingerprint = excluded.fingerprint, owner = excluded.owner, fence = excluded.fence, phase = excluded.phase,
                until = excluded.until, answer = excluded.answer, forget = excluded.forget;
    END IF;
    IF who IS NOT NULL AND cardinality(observed) > 0 THEN
        INSERT INTO interlock.views
            SELECT who, o.key, coalesce(c.version, 0), now + remember FROM unnest(observed) AS o (key)
            LEFT JOIN interlock.changes c ON c.key = o.key AND c.forget > now
            ORDER BY o.key
            ON CONFLICT (reader, key) DO UPDATE SET version = excluded.version, forget = excluded.forget;
    END IF;
    IF cardinality(locks) > 0 OR once IS NOT NULL THEN
        PERFORM set_config('synchronous_commit', durability, true);
    END IF;
END
$$;

-- Gives a call all that it has for longer, if it has all of it still.
CREATE FUNCTION interlock.prolong(
    asker bytea, held_fence bigint, ttl bigint, places text[], locks text[], once text
) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    now bigint;
    has_all boolean;
BEGIN
    PERFORM interlock.hold_all(asker, NULL, once, places, locks, NULL, NULL);
    now := interlock.clock();
    has_all := EXISTS (SELECT FROM interlock.calls c WHERE c.call = asker AND c.fence = held_fence AND c.until > now)
        AND NOT EXISTS (
            SELECT true, p.key FROM unnest(places) AS p (key)
            UNION ALL
            SELECT false, l.key FROM unnest(locks) AS l (key)
            EXCEPT
            (SELECT true, h.key FROM interlock.holders h
                WHERE h.is_place AND h.key = ANY (places) AND h.call = asker AND h.until > now
            UNION ALL
            SELECT false, h.key FROM interlock.holders h
                WHERE NOT h.is_place AND h.key = ANY (locks) AND h.call = asker AND h.until > now))
        AND (once IS NULL OR EXISTS (
            SELECT FROM interlock.attempts t WHERE t.key = once AND t.fence = held_fence AND t.phase = 'dispatched'
                AND t.until > now AND t.forget > now));
    IF has_all THEN
        PERFORM interlock.hold_on(asker, held_fence, places, locks, once, now + ttl);
    ELSE
        PERFORM interlock.nothing_changed();
    END IF;
    RETURN has_all;
END
$$;

-- Ends a call: versions rise, its effect's ending is stored, then its locks and places are given back, or it leaves the line.
CREATE FUNCTION interlock.settle(
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
    END IF;
    -- A lock that was given back and is not after a crash runs out by itself; a change and an ending must be known.
    IF new_ones IS NULL AND NOT is_known THEN
        PERFORM interlock.nothing_changed();
    END IF;
    SELECT * INTO own FROM interlock.calls c WHERE c.call = asker AND c.until > now;
    IF own.call IS NULL OR (held_fence IS NOT NULL AND own.fence IS DISTINCT FROM held_fence) THEN
        RETURN false;
    END IF;
    PERFORM interlock.forget_call(asker, own.ticket, places, locks);
    RETURN true;
END
$$;

-- Removes what has expired, at most so much of each kind, and says how much that was: also what is stored for admissions.
ALTER FUNCTION interlock.sweep(bigint) RENAME TO sweep_1;
CREATE FUNCTION interlock.sweep(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    now bigint := interlock.clock();
    removed bigint;
    total bigint := interlock.sweep_1(most);
BEGIN
    DELETE FROM interlock.calls WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM interlock.calls c WHERE c.until <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.holders WHERE ctid = ANY (ARRAY(
        SELECT h.ctid FROM interlock.holders h WHERE h.until <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.waiters WHERE ctid = ANY (ARRAY(
        SELECT w.ctid FROM interlock.waiters w WHERE w.until <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.fences WHERE ctid = ANY (ARRAY(
        SELECT f.ctid FROM interlock.fences f WHERE f.forget <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.changes WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM interlock.changes c WHERE c.forget <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM interlock.views WHERE ctid = ANY (ARRAY(
        SELECT v.ctid FROM interlock.views v WHERE v.forget <= now LIMIT most FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    RETURN total;
END
$$;
