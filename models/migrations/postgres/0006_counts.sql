-- How many pages of a site in a bucket are in a state, and how many of them failed at the last visit: kept by whoever
-- writes pages, in the same transaction.
CREATE TABLE page_counts (
    bucket  smallint NOT NULL,
    site_id integer NOT NULL,
    state   smallint NOT NULL,
    pages   bigint NOT NULL,
    failing bigint NOT NULL,
    PRIMARY KEY (bucket, site_id, state)
) WITH (fillfactor = 50);
INSERT INTO page_counts (bucket, site_id, state, pages, failing)
    SELECT bucket, site_id, state, COUNT(*), SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END) FROM pages GROUP BY bucket, site_id, state;
