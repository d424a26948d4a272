-- announced_at is when the publisher of a page last said of it that it had changed.
ALTER TABLE pages ADD COLUMN announced_at INTEGER NOT NULL DEFAULT 0;
