-- Version 2: admissions.

-- The last ticket, fence or version of a change that was given out.
ALTER TABLE space ADD COLUMN number INTEGER NOT NULL DEFAULT 0;

-- A call that waits has a ticket, one that holds its locks and places a fence.
CREATE TABLE call (
    space  INTEGER NOT NULL,
    id     BLOB    NOT NULL,
    ticket INTEGER,
    fence  INTEGER,
    until  INTEGER NOT NULL,
    PRIMARY KEY (space, id),
    CHECK ((ticket IS NULL) <> (fence IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX call_until ON call (space, until);

-- `kind`: 0 a lock, 1 a place.
CREATE TABLE hold (
    space     INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    call      BLOB    NOT NULL,
    is_shared INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (space, kind, key, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX hold_until ON hold (space, until);

-- The lines of those who wait, in order of their tickets.
CREATE TABLE wait (
    space     INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    ticket    INTEGER NOT NULL,
    is_shared INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (space, kind, key, ticket)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_until ON wait (space, until);

CREATE TABLE version (
    space   INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    version INTEGER NOT NULL,
    by      BLOB    NOT NULL,
    forget  INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_forget ON version (space, forget);

CREATE TABLE view (
    space   INTEGER NOT NULL,
    reader  TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    version INTEGER NOT NULL,
    forget  INTEGER NOT NULL,
    PRIMARY KEY (space, reader, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_forget ON view (space, forget);
