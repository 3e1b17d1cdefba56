-- What is stored. `interlock.` stands for the schema of the namespace; it is replaced when the file is applied.
--
-- Times are µs since 1970 by this server's clock. All rows are logged: a crash of the server forgets nothing but, of rate limits, the
-- grants of the last moment (see limits.sql).

-- Which version of this schema is applied, and for whom. One row.
CREATE TABLE interlock.about (
    version integer NOT NULL,
    namespace text NOT NULL
);

-- Of all records together, so that one which was deleted and made again never shows a version that somebody still holds.
CREATE SEQUENCE interlock.versions;

CREATE TABLE interlock.records (
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    number bigint,
    bytes bytea,
    CHECK (num_nonnulls(number, bytes) = 1)
) WITH (fillfactor = 80);

-- What the mutations and appends did, by their ids, until they are forgotten. A mutation changes one record or two; of an append,
-- `key_a` is the log and `to_a` the place.
CREATE TABLE interlock.ops (
    op bytea PRIMARY KEY,
    at bigint NOT NULL,
    forget bigint NOT NULL,
    key_a text NOT NULL,
    from_a bigint,
    to_a bigint,
    number_a bigint,
    key_b text,
    from_b bigint,
    to_b bigint,
    number_b bigint
);
CREATE INDEX ops_forget ON interlock.ops (forget);

-- A row outlives its lease because of the fence; one that was given back has no owner. No index on its time: it would make every renewal a change of the index.
CREATE TABLE interlock.leases (
    key text COLLATE "C" PRIMARY KEY,
    fence bigint NOT NULL,
    owner bytea,
    until bigint NOT NULL
) WITH (fillfactor = 80);

-- A bucket has the moment at which it would be full again, a log the moments of its grants, oldest first.
CREATE TABLE interlock.rates (
    key text COLLATE "C" PRIMARY KEY,
    full_at bigint,
    grants bigint[],
    idle bigint NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE interlock.permits (
    key text COLLATE "C",
    holder bytea,
    until bigint NOT NULL,
    PRIMARY KEY (key, holder)
) WITH (fillfactor = 80);

-- `until` counts while an attempt is reserved or dispatched; `answer` is there once it has completed or failed.
CREATE TABLE interlock.attempts (
    key text COLLATE "C" PRIMARY KEY,
    fingerprint bytea NOT NULL,
    owner bytea NOT NULL,
    fence bigint NOT NULL,
    phase text NOT NULL CHECK (phase IN ('reserved', 'dispatched', 'completed', 'failed')),
    until bigint NOT NULL,
    answer bytea,
    forget bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX attempts_forget ON interlock.attempts (forget);

-- The last place of a log. Its row lock is held until the entry is there for all to see, so that no place becomes visible after a
-- greater one: a reader who goes on behind the last entry it has seen misses none.
CREATE TABLE interlock.logs (
    log text COLLATE "C" PRIMARY KEY,
    last bigint NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE interlock.entries (
    log text COLLATE "C",
    place bigint,
    at bigint NOT NULL,
    entry bytea NOT NULL,
    PRIMARY KEY (log, place)
);
