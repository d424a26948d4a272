-- What many workers on one database need. A backup of an earlier step is restored by these defaults.

-- How large a share of the buckets a worker wants beside the others, how late its own are (nanoseconds), and how many
-- statements it sent.
ALTER TABLE workers ADD COLUMN share real NOT NULL DEFAULT 1;
ALTER TABLE workers ADD COLUMN lag bigint NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN statements bigint NOT NULL DEFAULT 0;

-- What a commit found out about hosts of other buckets: it is written with the commit, in the bucket of the host that was
-- visited, and then delivered to its target in a transaction of the target's bucket. id is random.
CREATE TABLE outbox (
    bucket smallint NOT NULL,
    id     bigint NOT NULL,
    target smallint NOT NULL,
    at     bigint NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (bucket, id)
);
