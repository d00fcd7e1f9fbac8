-- Agents and what they declare. A version is written once and never changed; `agents` says which one
-- is the present, so that publishing can be made to depend on it.

CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    -- The present version; 0 before the first.
    version INTEGER NOT NULL CHECK (version >= 0),
    hash TEXT,
    bytes INTEGER NOT NULL,
    CHECK ((version = 0) = (hash IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_of_owners ON agents (owner, id);

CREATE TABLE agent_versions (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES agents (id),
    version INTEGER NOT NULL CHECK (version > 0),
    hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    is_breaking INTEGER NOT NULL CHECK (is_breaking IN (0, 1)),
    asks_consent INTEGER NOT NULL CHECK (asks_consent IN (0, 1)),
    -- Large texts last, so that what stands before them is read without them.
    breaking TEXT NOT NULL,
    non_breaking TEXT NOT NULL,
    consent TEXT NOT NULL,
    canonical TEXT NOT NULL,
    UNIQUE (agent, version)
) STRICT;

-- Requests that may be repeated, in the order in which they came.
CREATE TABLE agent_retries (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES agents (id),
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    version INTEGER NOT NULL,
    at_wall_ms INTEGER NOT NULL,
    at_boot_ms INTEGER NOT NULL,
    at_boot TEXT NOT NULL,
    UNIQUE (agent, key)
) STRICT;

CREATE TABLE relations (
    user TEXT NOT NULL,
    agent TEXT NOT NULL REFERENCES agents (id),
    accepted INTEGER NOT NULL CHECK (accepted > 0),
    added_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    PRIMARY KEY (user, agent)
) STRICT, WITHOUT ROWID;

CREATE INDEX relations_of_agents ON relations (agent, accepted) WHERE ended_ms IS NULL;

-- One card may go to many users.
CREATE TABLE cards (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES agents (id),
    body TEXT NOT NULL
) STRICT;

-- A number is never used again: whoever asks for what came after one must not miss anything.
CREATE TABLE notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    agent TEXT NOT NULL REFERENCES agents (id),
    kind TEXT NOT NULL,
    card INTEGER NOT NULL REFERENCES cards (id),
    at_ms INTEGER NOT NULL,
    read INTEGER NOT NULL CHECK (read IN (0, 1))
) STRICT;

CREATE INDEX notices_of_users ON notices (user, id);
CREATE INDEX notices_of_cards ON notices (card);
CREATE INDEX notices_unread ON notices (agent, user, card) WHERE read = 0;
