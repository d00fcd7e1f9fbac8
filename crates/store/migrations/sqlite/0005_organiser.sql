-- Calendars, contacts and memories. What a row means, the organiser knows; here it has an owner, a
-- revision that every change must name, and what it is found by.

CREATE TABLE organiser (
    owner TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('event', 'invitation', 'contact', 'memory')),
    id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision > 0),
    -- Whether it counts towards what its owner may have.
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
    link TEXT,
    -- Microseconds since 1970; none for never.
    starts INTEGER,
    ends INTEGER,
    -- Last, so that what stands before it is read without it.
    body TEXT NOT NULL,
    UNIQUE (owner, kind, id)
) STRICT;

CREATE INDEX organiser_by_id ON organiser (kind, id);
CREATE INDEX organiser_by_link ON organiser (kind, link, owner);
-- Most of a calendar is over: what has not ended by a time is soon found.
CREATE INDEX organiser_by_end ON organiser (owner, kind, ends, starts);

-- How much everybody has, so that a limit costs the same however much that is.
CREATE TABLE organiser_counts (
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (owner, kind)
) STRICT, WITHOUT ROWID;
