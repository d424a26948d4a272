-- The links of a page in one row. children is a byte that says how it is written, 1, and then for each child its bucket, one
-- byte, and its id, eight bytes, the highest first, in their order. What is random does not compress. About half a minute for each
-- million pages with 25 links.
ALTER TABLE links RENAME TO links_by_row;
ALTER INDEX links_pkey RENAME TO links_by_row_pkey;
CREATE TABLE links (
    bucket    smallint NOT NULL,
    parent_id bigint NOT NULL,
    children  bytea NOT NULL CHECK (length(children) % 9 = 1),
    PRIMARY KEY (bucket, parent_id)
);
ALTER TABLE links ALTER COLUMN children SET STORAGE EXTERNAL;
INSERT INTO links (bucket, parent_id, children)
    SELECT bucket, parent_id, '\x01'::bytea || string_agg(substring(int2send(child_bucket) FROM 2) || int8send(child_id), ''::bytea
        ORDER BY child_bucket, child_id)
    FROM links_by_row GROUP BY bucket, parent_id;
DROP TABLE links_by_row;
