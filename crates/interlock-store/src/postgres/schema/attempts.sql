-- Idempotency: one row per key, from reserved over dispatched to completed or failed.

CREATE FUNCTION interlock.begin_attempt(
    wanted text, says bytea, asker bytea, ttl bigint, keep bigint,
    OUT verdict text, OUT fence bigint, OUT wait bigint, OUT answer bytea
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.attempts;
    now bigint;
    reserved_until bigint;
BEGIN
    PERFORM interlock.hold('interlock.attempts', wanted);
    SELECT * INTO held FROM interlock.attempts t WHERE t.key = wanted FOR UPDATE;
    now := interlock.clock();
    IF (held.forget > now AND NOT (held.phase = 'reserved' AND held.until <= now)) IS NOT TRUE THEN
        verdict := 'reserved';
        fence := interlock.next_fence(held.fence, now);
        reserved_until := now + ttl;
        INSERT INTO interlock.attempts
            VALUES (wanted, says, asker, fence, 'reserved', reserved_until, NULL, greatest(reserved_until, now + keep))
            ON CONFLICT (key) DO UPDATE SET
                fingerprint = excluded.fingerprint, owner = excluded.owner, fence = excluded.fence, phase = excluded.phase,
                until = excluded.until, answer = excluded.answer, forget = excluded.forget;
        RETURN;
    END IF;
    PERFORM interlock.nothing_changed();
    IF held.fingerprint <> says THEN
        verdict := 'mismatch';
    ELSIF held.phase IN ('completed', 'failed') THEN
        verdict := held.phase;
        answer := held.answer;
    ELSIF held.phase = 'reserved' AND held.owner = asker THEN
        verdict := 'reserved';
        fence := held.fence;
    ELSIF held.phase = 'dispatched' AND held.until <= now THEN
        verdict := 'in-doubt';
        fence := held.fence;
    ELSE
        verdict := 'running';
        wait := held.until - now;
    END IF;
END
$$;

CREATE FUNCTION interlock.dispatch_attempt(wanted text, held_fence bigint, ttl bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.attempts;
    now bigint;
BEGIN
    SELECT * INTO held FROM interlock.attempts t WHERE t.key = wanted FOR UPDATE;
    now := interlock.clock();
    IF (held.fence = held_fence AND held.forget > now AND held.phase IN ('reserved', 'dispatched') AND held.until > now)
        IS NOT TRUE THEN
        PERFORM interlock.nothing_changed();
        RETURN false;
    END IF;
    UPDATE interlock.attempts t SET phase = 'dispatched', until = now + ttl, forget = greatest(t.forget, now + ttl)
        WHERE t.key = wanted;
    RETURN true;
END
$$;

CREATE FUNCTION interlock.finish_attempt(wanted text, held_fence bigint, ending text, says bytea, keep bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.attempts;
    now bigint;
BEGIN
    SELECT * INTO held FROM interlock.attempts t WHERE t.key = wanted FOR UPDATE;
    now := interlock.clock();
    IF (held.fence = held_fence AND held.forget > now AND CASE held.phase
        WHEN 'reserved' THEN held.until > now
        -- Late, and still the only one: nobody takes over what was dispatched.
        WHEN 'dispatched' THEN true
        ELSE held.phase = ending AND held.answer = says
    END) IS NOT TRUE THEN
        PERFORM interlock.nothing_changed();
        RETURN false;
    END IF;
    UPDATE interlock.attempts t SET phase = ending, answer = says, forget = now + keep WHERE t.key = wanted;
    RETURN true;
END
$$;
