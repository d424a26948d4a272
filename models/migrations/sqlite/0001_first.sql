-- Units: moments are Unix milliseconds, 0 = never; durations are nanoseconds; digests are 32 bytes.

CREATE TABLE sites (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE,
    url        TEXT NOT NULL,
    settings   TEXT NOT NULL,
    from_file  INTEGER NOT NULL CHECK (from_file IN (0, 1)),
    paused     INTEGER NOT NULL CHECK (paused IN (0, 1)),
    created_at INTEGER NOT NULL CHECK (created_at >= 0)
) STRICT;

-- ready_at is the queue: 0 = no page is due, ever. The lease's columns but ready_at are in no index, so that taking a
-- lease touches one index entry.
CREATE TABLE hosts (
    bucket        INTEGER NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id            INTEGER NOT NULL,
    name          TEXT NOT NULL CHECK (name <> ''),
    ready_at      INTEGER NOT NULL CHECK (ready_at >= 0),
    open_at       INTEGER NOT NULL CHECK (open_at >= 0),
    backoff_until INTEGER NOT NULL CHECK (backoff_until >= 0),
    failures      INTEGER NOT NULL CHECK (failures >= 0),
    delay         INTEGER NOT NULL CHECK (delay >= 0),
    lease_token   INTEGER NOT NULL CHECK (lease_token >= 0),
    lease_until   INTEGER NOT NULL CHECK (lease_until >= 0),
    lease_owner   TEXT NOT NULL,
    pages         INTEGER NOT NULL CHECK (pages >= 0),
    PRIMARY KEY (bucket, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hosts_ready ON hosts (bucket, ready_at, id) WHERE ready_at > 0;

CREATE TABLE robots (
    bucket      INTEGER NOT NULL,
    host_id     INTEGER NOT NULL,
    origin      TEXT NOT NULL,
    status      INTEGER NOT NULL,
    class       INTEGER NOT NULL,
    body        BLOB,
    crawl_delay INTEGER NOT NULL CHECK (crawl_delay >= 0),
    fetched_at  INTEGER NOT NULL CHECK (fetched_at >= 0),
    expires_at  INTEGER NOT NULL CHECK (expires_at >= 0),
    good_at     INTEGER NOT NULL CHECK (good_at >= 0),
    PRIMARY KEY (bucket, host_id, origin),
    FOREIGN KEY (bucket, host_id) REFERENCES hosts (bucket, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE pages (
    bucket         INTEGER NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id             INTEGER NOT NULL,
    host_id        INTEGER NOT NULL,
    site_id        INTEGER NOT NULL,
    url            TEXT NOT NULL CHECK (url <> ''),
    state          INTEGER NOT NULL CHECK (state BETWEEN 1 AND 6),
    level          INTEGER NOT NULL CHECK (level >= 0),
    note           TEXT NOT NULL,
    due_at         INTEGER NOT NULL CHECK (due_at >= 0),
    fr_max         INTEGER NOT NULL CHECK (fr_max >= 1),
    rule           INTEGER NOT NULL,
    wanted         INTEGER NOT NULL,
    visits         INTEGER NOT NULL CHECK (visits >= 0),
    records        INTEGER NOT NULL CHECK (records >= 0),
    changes        INTEGER NOT NULL CHECK (changes >= 0),
    bits           INTEGER NOT NULL,
    first_at       INTEGER NOT NULL,
    visited_at     INTEGER NOT NULL,
    changed_at     INTEGER NOT NULL,
    tried_at       INTEGER NOT NULL,
    failures       INTEGER NOT NULL CHECK (failures >= 0),
    class          INTEGER NOT NULL,
    missing_since  INTEGER NOT NULL,
    missing_visits INTEGER NOT NULL CHECK (missing_visits >= 0),
    fresh_until    INTEGER NOT NULL,
    redirect_to    TEXT NOT NULL,
    chain          TEXT NOT NULL,
    version        INTEGER NOT NULL CHECK (version >= 0),
    etag           TEXT NOT NULL,
    last_modified  TEXT NOT NULL,
    digest         BLOB CHECK (length(digest) = 32),
    text_digest    BLOB CHECK (length(text_digest) = 32),
    content_type   TEXT NOT NULL,
    bytes          INTEGER NOT NULL CHECK (bytes >= 0),
    duplicate_of   TEXT NOT NULL,
    no_archive     INTEGER NOT NULL CHECK (no_archive IN (0, 1)),
    children       INTEGER NOT NULL CHECK (children >= 0),
    full_at        INTEGER NOT NULL,
    threshold      INTEGER NOT NULL,
    skips          INTEGER NOT NULL CHECK (skips >= 0),
    PRIMARY KEY (bucket, id)
) STRICT;
CREATE INDEX pages_due ON pages (bucket, host_id, due_at, id) WHERE due_at > 0;

CREATE TABLE visits (
    bucket  INTEGER NOT NULL,
    page_id INTEGER NOT NULL,
    number  INTEGER NOT NULL CHECK (number >= 1),
    at      INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    class   INTEGER NOT NULL,
    status  INTEGER NOT NULL,
    took    INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    fr_max  INTEGER NOT NULL,
    version INTEGER NOT NULL,
    rule    INTEGER NOT NULL,
    PRIMARY KEY (bucket, page_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE versions (
    bucket        INTEGER NOT NULL,
    page_id       INTEGER NOT NULL,
    number        INTEGER NOT NULL CHECK (number >= 1),
    at            INTEGER NOT NULL,
    status        INTEGER NOT NULL,
    digest        BLOB CHECK (length(digest) = 32),
    text_digest   BLOB CHECK (length(text_digest) = 32),
    bytes         INTEGER NOT NULL CHECK (bytes >= 0),
    content_type  TEXT NOT NULL,
    etag          TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    significant   INTEGER NOT NULL CHECK (significant IN (0, 1)),
    record_file   TEXT NOT NULL,
    record_offset INTEGER NOT NULL,
    record_length INTEGER NOT NULL,
    PRIMARY KEY (bucket, page_id, number)
) STRICT, WITHOUT ROWID;

-- The bucket is the digest's first byte.
CREATE TABLE contents (
    bucket        INTEGER NOT NULL,
    digest        BLOB NOT NULL CHECK (length(digest) = 32),
    record_file   TEXT NOT NULL,
    record_offset INTEGER NOT NULL,
    record_length INTEGER NOT NULL,
    url           TEXT NOT NULL,
    at            INTEGER NOT NULL,
    PRIMARY KEY (bucket, digest)
) STRICT, WITHOUT ROWID;

-- The bucket is the parent's.
CREATE TABLE links (
    bucket       INTEGER NOT NULL,
    parent_id    INTEGER NOT NULL,
    child_bucket INTEGER NOT NULL,
    child_id     INTEGER NOT NULL,
    PRIMARY KEY (bucket, parent_id, child_bucket, child_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    bucket        INTEGER NOT NULL,
    seq           INTEGER NOT NULL CHECK (seq >= 1),
    at            INTEGER NOT NULL,
    kind          INTEGER NOT NULL,
    site_id       INTEGER NOT NULL,
    page_id       INTEGER NOT NULL,
    url           TEXT NOT NULL,
    version       INTEGER NOT NULL,
    previous      INTEGER NOT NULL,
    not_before    INTEGER NOT NULL,
    not_after     INTEGER NOT NULL,
    status        INTEGER NOT NULL,
    content_type  TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    digest        BLOB CHECK (length(digest) = 32),
    bytes         INTEGER NOT NULL,
    redirect_to   TEXT NOT NULL,
    record_file   TEXT NOT NULL,
    record_offset INTEGER NOT NULL,
    record_length INTEGER NOT NULL,
    PRIMARY KEY (bucket, seq)
) STRICT, WITHOUT ROWID;

-- One row a bucket: next_seq is the number of its next event.
CREATE TABLE buckets (
    bucket   INTEGER NOT NULL PRIMARY KEY CHECK (bucket BETWEEN 0 AND 255),
    next_seq INTEGER NOT NULL CHECK (next_seq >= 1)
) STRICT, WITHOUT ROWID;
INSERT INTO buckets (bucket, next_seq)
WITH RECURSIVE n (bucket) AS (VALUES (0) UNION ALL SELECT bucket + 1 FROM n WHERE bucket < 255)
SELECT bucket, 1 FROM n;

-- What reports read in place of the history; day counts from 1970-01-01 UTC.
CREATE TABLE daily (
    bucket       INTEGER NOT NULL,
    site_id      INTEGER NOT NULL,
    day          INTEGER NOT NULL,
    asked        INTEGER NOT NULL,
    not_modified INTEGER NOT NULL,
    same         INTEGER NOT NULL,
    changed      INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    moved        INTEGER NOT NULL,
    gone         INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    robots       INTEGER NOT NULL,
    skipped      INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    bytes_saved  INTEGER NOT NULL,
    PRIMARY KEY (bucket, site_id, day)
) STRICT, WITHOUT ROWID;

-- The last event of a bucket that a sink has delivered.
CREATE TABLE sink_cursors (
    sink   TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    seq    INTEGER NOT NULL CHECK (seq >= 0),
    PRIMARY KEY (sink, bucket)
) STRICT, WITHOUT ROWID;

-- beat_at is by the daemon's clock, real_beat_at by the machine's.
CREATE TABLE workers (
    name         TEXT NOT NULL PRIMARY KEY,
    machine      TEXT NOT NULL,
    pid          INTEGER NOT NULL,
    release      TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    beat_at      INTEGER NOT NULL,
    real_beat_at INTEGER NOT NULL,
    visits       INTEGER NOT NULL,
    lost         INTEGER NOT NULL,
    in_flight    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
