-- Near-duplicates: what tells pages that say nearly the same, and what a page names as its canonical URL.
ALTER TABLE pages ADD COLUMN print bytea CHECK (length(print) = 16);
ALTER TABLE pages ADD COLUMN canonical text NOT NULL DEFAULT '';

-- Pages by the keys of what they say; pages that say nearly the same share a key. Duplicates are not in it. The bucket is
-- the key's first byte.
CREATE TABLE prints (
    bucket      smallint NOT NULL,
    key         bigint NOT NULL,
    page_bucket smallint NOT NULL,
    page_id     bigint NOT NULL,
    PRIMARY KEY (bucket, key, page_bucket, page_id)
);
