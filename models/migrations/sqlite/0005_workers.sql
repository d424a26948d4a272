-- What many workers on one database need. A backup of an earlier step is restored by these defaults.

-- How large a share of the buckets a worker wants beside the others, how late its own are (nanoseconds), and how many
-- statements it sent.
ALTER TABLE workers ADD COLUMN share REAL NOT NULL DEFAULT 1;
ALTER TABLE workers ADD COLUMN lag INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN statements INTEGER NOT NULL DEFAULT 0;

-- What a commit found out about hosts of other buckets. SQLite has one writer, which delivers at once: here are only those
-- that came with a backup.
CREATE TABLE outbox (
    bucket INTEGER NOT NULL,
    id     INTEGER NOT NULL,
    target INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    body   BLOB NOT NULL,
    PRIMARY KEY (bucket, id)
) STRICT, WITHOUT ROWID;
