-- mark is random, of the transaction that wrote the event: a file that takes the place of another gives numbers again. 0: from before.
ALTER TABLE events ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
-- The newest event of the bucket that was pruned: readers that had it are known by its mark.
ALTER TABLE buckets ADD COLUMN pruned_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN pruned_mark INTEGER NOT NULL DEFAULT 0;
