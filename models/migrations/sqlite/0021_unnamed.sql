-- unnamed_at is since when no page's copy is found to name a requisite, so that it is visited no more after a while. Zero: one does.
ALTER TABLE pages ADD COLUMN unnamed_at INTEGER NOT NULL DEFAULT 0;
