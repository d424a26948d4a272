-- The names of sites that were removed, for as long as an event that tells of it is kept: seq is the last one in the bucket. A row is
-- pruned with it.
CREATE TABLE removed_sites (
    bucket  INTEGER NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    site_id INTEGER NOT NULL,
    name    TEXT NOT NULL,
    url     TEXT NOT NULL,
    seq     INTEGER NOT NULL CHECK (seq > 0),
    PRIMARY KEY (bucket, site_id)
) STRICT, WITHOUT ROWID;
