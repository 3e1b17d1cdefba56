-- Leases. A row is locked before the clock is read, so that no time passes between the judgement and the write.

CREATE FUNCTION interlock.acquire_lease(
    wanted text, asker bytea, ttl bigint, OUT granted boolean, OUT fence bigint, OUT wait bigint
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.leases;
    now bigint;
BEGIN
    PERFORM interlock.hold('interlock.leases', wanted);
    SELECT * INTO held FROM interlock.leases l WHERE l.key = wanted FOR UPDATE;
    now := interlock.clock();
    granted := true;
    fence := held.fence;
    IF held.until > now AND held.owner <> asker THEN
        granted := false;
        wait := held.until - now;
        PERFORM interlock.nothing_changed();
    ELSIF held.until > now THEN
        UPDATE interlock.leases l SET until = now + ttl WHERE l.key = wanted;
    ELSE
        fence := interlock.next_fence(held.fence, now);
        INSERT INTO interlock.leases VALUES (wanted, fence, asker, now + ttl)
            ON CONFLICT (key) DO UPDATE SET fence = excluded.fence, owner = excluded.owner, until = excluded.until;
    END IF;
END
$$;

-- Ends a lease or prolongs it: no time left ends it now.
CREATE FUNCTION interlock.renew_lease(wanted text, held_fence bigint, ttl bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.leases;
    now bigint;
BEGIN
    SELECT * INTO held FROM interlock.leases l WHERE l.key = wanted FOR UPDATE;
    now := interlock.clock();
    IF (held.fence = held_fence AND held.until > now) IS NOT TRUE THEN
        PERFORM interlock.nothing_changed();
        RETURN false;
    END IF;
    UPDATE interlock.leases l SET until = now + ttl WHERE l.key = wanted;
    RETURN true;
END
$$;
