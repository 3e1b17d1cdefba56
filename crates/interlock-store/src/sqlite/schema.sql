-- Version 1. Moments are µs since 1970, ids are 16 bytes. Every table begins with the namespace, so that two of them never meet.

-- A namespace, with the last version and the last place in a log that were given out in it.
CREATE TABLE space (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    version  INTEGER NOT NULL DEFAULT 0,
    sequence INTEGER NOT NULL DEFAULT 0
) STRICT;

-- `content` is an INTEGER for a number and a BLOB for anything else.
CREATE TABLE record (
    space   INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    version INTEGER NOT NULL,
    content ANY     NOT NULL CHECK (typeof(content) IN ('integer', 'blob')),
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- What applied mutations did, and appends. None changes more than two records; of an append, `first_key` is the log and `first_to` the place.
CREATE TABLE op (
    space         INTEGER NOT NULL,
    id            BLOB    NOT NULL,
    at            INTEGER NOT NULL,
    forget        INTEGER NOT NULL,
    first_key     TEXT    NOT NULL,
    first_from    INTEGER,
    first_to      INTEGER,
    first_number  INTEGER,
    second_key    TEXT,
    second_from   INTEGER,
    second_to     INTEGER,
    second_number INTEGER,
    PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX op_forget ON op (space, forget);

-- Kept after a lease has ended, because of its fence. One that was given back has no owner.
CREATE TABLE lease (
    space INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    fence INTEGER NOT NULL,
    owner BLOB,
    until INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX lease_until ON lease (space, until);

-- Of a bucket, when it will be full; of a log, its grants, oldest first, 8 bytes each. `idle` is when the row says nothing any more.
CREATE TABLE rate (
    space  INTEGER NOT NULL,
    key    TEXT    NOT NULL,
    full   INTEGER,
    grants BLOB,
    idle   INTEGER NOT NULL,
    PRIMARY KEY (space, key),
    CHECK ((full IS NULL) <> (grants IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_idle ON rate (space, idle);

CREATE TABLE permit (
    space  INTEGER NOT NULL,
    key    TEXT    NOT NULL,
    holder BLOB    NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (space, key, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX permit_until ON permit (space, until);

-- `phase`: 0 reserved and 1 dispatched, both `until` a moment; 2 completed and 3 failed, both with an answer.
CREATE TABLE attempt (
    space       INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    owner       BLOB    NOT NULL,
    fence       INTEGER NOT NULL,
    phase       INTEGER NOT NULL CHECK (phase BETWEEN 0 AND 3),
    until       INTEGER,
    answer      BLOB,
    forget      INTEGER NOT NULL,
    PRIMARY KEY (space, key),
    CHECK ((phase < 2) = (until IS NOT NULL) AND (phase < 2) = (answer IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_forget ON attempt (space, forget);

CREATE TABLE log (
    space    INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    sequence INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    entry    BLOB    NOT NULL,
    PRIMARY KEY (space, name, sequence)
) STRICT, WITHOUT ROWID;
