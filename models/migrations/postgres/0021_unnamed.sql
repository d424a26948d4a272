-- unnamed_at is since when no page's copy is found to name a requisite, so that it is visited no more after a while. NULL is zero: one does.
ALTER TABLE pages ADD COLUMN unnamed_at bigint;
