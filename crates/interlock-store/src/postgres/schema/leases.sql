-- Leases. A row is locked before the clock is read, so that no time passes between the judgement and the write.

-- Whether a lease is held. One that was given back has no owner, and is not held even by a clock that was set back since.
CREATE FUNCTION interlock.is_held(lease interlock.leases, now bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(lease.owner IS NOT NULL AND lease.until > now, false)
$$;

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
    IF interlock.is_held(held, now) AND held.owner <> asker THEN
        granted := false;
        wait := held.until - now;
        PERFORM interlock.nothing_changed();
    ELSIF interlock.is_held(held, now) THEN
        UPDATE interlock.leases l SET until = now + ttl WHERE l.key = wanted;
    ELSE
        fence := interlock.next_fence(held.fence, now);
        INSERT INTO interlock.leases VALUES (wanted, fence, asker, now + ttl)
            ON CONFLICT (key) DO UPDATE SET fence = excluded.fence, owner = excluded.owner, until = excluded.until;
    END IF;
END
$$;

-- Prolongs a lease, or ends it: without more time it is given back.
CREATE FUNCTION interlock.renew_lease(wanted text, held_fence bigint, ttl bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held interlock.leases;
    now bigint;
BEGIN
    SELECT * INTO held FROM interlock.leases l WHERE l.key = wanted FOR UPDATE;
    now := interlock.clock();
    IF (held.fence = held_fence AND interlock.is_held(held, now)) IS NOT TRUE THEN
        PERFORM interlock.nothing_changed();
        RETURN false;
    END IF;
    UPDATE interlock.leases l SET until = now + coalesce(ttl, 0), owner = CASE WHEN ttl IS NOT NULL THEN l.owner END
        WHERE l.key = wanted;
    RETURN true;
END
$$;
