-- mark is random, of the transaction that wrote the event: a file that takes the place of another gives numbers again. 0: from before.
ALTER TABLE events ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
-- That of the bucket's newest event, pruned or not.
ALTER TABLE buckets ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
