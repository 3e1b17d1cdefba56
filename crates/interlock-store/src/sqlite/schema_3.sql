-- Version 3. What tells an operation from another that comes under the same id; null for what was remembered before.
ALTER TABLE op ADD COLUMN fingerprint BLOB;

-- How far the time of all processes is ahead of the machine's steady clock, since this start of the machine. One row.
CREATE TABLE clock (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    boot  TEXT    NOT NULL,
    ahead INTEGER NOT NULL
) STRICT;
