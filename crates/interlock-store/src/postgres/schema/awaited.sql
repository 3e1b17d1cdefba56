-- What a call has given back that others stand in line for, so that they can be told: by a statement of its own, because a notification inside this
-- transaction would hold a lock of the whole database until its end is on the disk.
CREATE FUNCTION interlock.settle_and_tell(
    asker bytea, held_fence bigint, places text[], locks text[], once text, ending text, says bytea, keep bigint,
    who text, changed text[], is_success boolean, remember bigint, OUT held boolean, OUT awaited text[]
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    now bigint;
BEGIN
    held := interlock.settle(asker, held_fence, places, locks, once, ending, says, keep, who, changed, is_success, remember);
    now := interlock.clock();
    awaited := ARRAY(
        SELECT w.key FROM interlock.waiters w WHERE w.is_place AND w.key = ANY (places) AND w.until > now
        UNION
        SELECT w.key FROM interlock.waiters w WHERE NOT w.is_place AND w.key = ANY (locks) AND w.until > now);
END
$$;
