-- Who there is, and how they prove it. A token is kept as its SHA-256 only.

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    scopes TEXT NOT NULL,
    label TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_of ON tokens (kind, subject);

-- Goes up with every change of a token, so that whoever remembers tokens knows when to forget.
ALTER TABLE changes ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
