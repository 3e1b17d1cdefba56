-- What is stored for admissions.

-- The order of those who wait.
CREATE SEQUENCE interlock.tickets;

-- A call that waits has a ticket, one that holds its locks and places a fence.
CREATE TABLE interlock.calls (
    call bytea PRIMARY KEY,
    ticket bigint,
    fence bigint,
    until bigint NOT NULL,
    CHECK (num_nonnulls(ticket, fence) = 1)
) WITH (fillfactor = 80);

-- The fence of the last grant of a lock; kept as long as that of a lease is.
CREATE TABLE interlock.fences (
    key text COLLATE "C" PRIMARY KEY,
    fence bigint NOT NULL,
    forget bigint NOT NULL
) WITH (fillfactor = 80);

-- Who has locks and places. No index on the time: it would make every prolongation a change of the index.
CREATE TABLE interlock.holders (
    is_place boolean,
    key text COLLATE "C",
    call bytea,
    is_shared boolean NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (is_place, key, call)
) WITH (fillfactor = 80);

-- Who waits for them, in order of their tickets.
CREATE TABLE interlock.waiters (
    is_place boolean,
    key text COLLATE "C",
    ticket bigint,
    is_shared boolean NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (is_place, key, ticket)
) WITH (fillfactor = 80);

-- The version of what calls changed, and which call raised it last.
CREATE TABLE interlock.changes (
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    by bytea NOT NULL,
    forget bigint NOT NULL
) WITH (fillfactor = 80);

-- The version that a reader saw; 0 if none was known.
CREATE TABLE interlock.views (
    reader text COLLATE "C",
    key text COLLATE "C",
    version bigint NOT NULL,
    forget bigint NOT NULL,
    PRIMARY KEY (reader, key)
) WITH (fillfactor = 80);
