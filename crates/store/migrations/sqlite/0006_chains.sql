-- What a commit costs is the pages it changes. An index by thread has a page of its own for every thread
-- that goes on, so each record of each of them cost a page. Instead each event and each call names the
-- one before it in its thread, and the thread names the last; of the events, one in sixty-four is indexed,
-- so that a part of a long thread is found without walking all of it.

ALTER TABLE threads ADD COLUMN last_event INTEGER;
ALTER TABLE threads ADD COLUMN last_call INTEGER;

UPDATE threads SET
    last_event = (SELECT id FROM events WHERE thread = threads.id ORDER BY sequence DESC LIMIT 1),
    last_call = (SELECT max(id) FROM calls WHERE thread = threads.id);

CREATE TABLE new_calls (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    thread INTEGER NOT NULL REFERENCES threads (id),
    -- The call before it in its thread.
    prior INTEGER,
    capability TEXT NOT NULL,
    -- The events that begin and end it.
    begun INTEGER NOT NULL,
    ended INTEGER,
    -- `asking`, `running`, or how it ended.
    state TEXT NOT NULL,
    -- The process that has it, until it has ended.
    node TEXT,
    -- Why a person said no, until it has ended.
    denial TEXT,
    progress TEXT,
    -- Whether somebody wants it stopped; whoever has it looks here.
    stop INTEGER NOT NULL DEFAULT 0 CHECK (stop IN (0, 1)),
    UNIQUE (user, agent, name),
    CHECK ((ended IS NULL) = (node IS NOT NULL))
) STRICT;

-- An event that is gone leaves 0, which is none: its call is still missed.
INSERT INTO new_calls
SELECT id, user, agent, name, thread, lag(id) OVER (PARTITION BY thread ORDER BY id), capability,
    coalesce((SELECT e.id FROM events e WHERE e.thread = c.thread AND e.sequence = c.begun), 0),
    CASE WHEN ended IS NOT NULL THEN
        coalesce((SELECT e.id FROM events e WHERE e.thread = c.thread AND e.sequence = c.ended), 0)
    END,
    state, node, denial, progress, stop
FROM calls c;

DROP TABLE calls;
ALTER TABLE new_calls RENAME TO calls;
CREATE INDEX calls_under_way ON calls (node) WHERE node IS NOT NULL;

CREATE TABLE new_events (
    id INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL REFERENCES threads (id),
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    -- The event before it in its thread.
    prior INTEGER,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    call TEXT,
    body TEXT NOT NULL,
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

INSERT INTO new_events
SELECT id, thread, sequence, lag(id) OVER (PARTITION BY thread ORDER BY sequence),
    at_ms, kind, call, body, previous, hash
FROM events;

DROP TABLE events;
ALTER TABLE new_events RENAME TO events;
CREATE UNIQUE INDEX anchors ON events (thread, sequence) WHERE sequence % 64 = 0;
CREATE INDEX messages ON events (thread, sequence) WHERE kind = 'message';
