-- Whether somebody wants the call stopped; whoever has it looks here.
ALTER TABLE calls ADD COLUMN stop INTEGER NOT NULL DEFAULT 0 CHECK (stop IN (0, 1));
