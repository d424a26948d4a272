-- Near-duplicates: what tells pages that say nearly the same, and what a page names as its canonical URL.
ALTER TABLE pages ADD COLUMN print BLOB CHECK (length(print) = 16);
ALTER TABLE pages ADD COLUMN canonical TEXT NOT NULL DEFAULT '';

-- Pages by the keys of what they say; pages that say nearly the same share a key. Duplicates are not in it. The bucket is
-- the key's first byte.
CREATE TABLE prints (
    bucket      INTEGER NOT NULL,
    key         INTEGER NOT NULL,
    page_bucket INTEGER NOT NULL,
    page_id     INTEGER NOT NULL,
    PRIMARY KEY (bucket, key, page_bucket, page_id)
) STRICT, WITHOUT ROWID;
