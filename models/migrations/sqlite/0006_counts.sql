-- How many pages of a site in a bucket are in a state, and how many of them failed at the last visit: kept by whoever
-- writes pages, in the same transaction.
CREATE TABLE page_counts (
    bucket  INTEGER NOT NULL,
    site_id INTEGER NOT NULL,
    state   INTEGER NOT NULL,
    pages   INTEGER NOT NULL,
    failing INTEGER NOT NULL,
    PRIMARY KEY (bucket, site_id, state)
) STRICT, WITHOUT ROWID;
INSERT INTO page_counts (bucket, site_id, state, pages, failing)
    SELECT bucket, site_id, state, COUNT(*), SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END) FROM pages GROUP BY bucket, site_id, state;
