-- The log is the record: `events` holds what happened, sealed and chained. `calls` is an index of it
-- that says which events begin and end a call and how far it has come; it repeats nothing but what
-- is searched for.

CREATE TABLE threads (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL REFERENCES threads (id),
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    call TEXT,
    body TEXT NOT NULL,
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    UNIQUE (thread, sequence)
) STRICT;

CREATE INDEX messages ON events (thread, sequence) WHERE kind = 'message';

CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    thread INTEGER NOT NULL REFERENCES threads (id),
    capability TEXT NOT NULL,
    -- The sequence numbers of the events that begin and end it.
    begun INTEGER NOT NULL,
    ended INTEGER,
    -- `asking`, `running`, or how it ended.
    state TEXT NOT NULL,
    -- The process that has it, until it has ended.
    node TEXT,
    -- Why a person said no, until it has ended.
    denial TEXT,
    progress TEXT,
    UNIQUE (user, agent, name),
    CHECK ((ended IS NULL) = (node IS NOT NULL))
) STRICT;

CREATE INDEX calls_of_threads ON calls (thread);
CREATE INDEX calls_under_way ON calls (node) WHERE node IS NOT NULL;

CREATE TABLE grants (
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    source TEXT NOT NULL,
    scope TEXT NOT NULL,
    device TEXT NOT NULL,
    thread TEXT NOT NULL,
    sensitivity TEXT NOT NULL,
    manifest_hash TEXT NOT NULL,
    used_wall_ms INTEGER NOT NULL,
    used_boot_ms INTEGER NOT NULL,
    used_boot TEXT NOT NULL,
    revoked INTEGER NOT NULL CHECK (revoked IN (0, 1)),
    PRIMARY KEY (user, agent, source, scope, device, thread)
) STRICT, WITHOUT ROWID;

-- Goes up with every change of a grant, so that whoever remembers grants knows when to forget.
CREATE TABLE changes (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    grants INTEGER NOT NULL
) STRICT;

INSERT INTO changes (id, grants) VALUES (1, 0);

CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    hash TEXT NOT NULL,
    canonical TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    UNIQUE (source, version)
) STRICT;
