-- The removal of what has expired.

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
