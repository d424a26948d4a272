-- Sitemaps and feeds are pages: entries is how many pages one names, told_at when a list of its host last said of a page that
-- it had changed.
ALTER TABLE pages ADD COLUMN entries INTEGER NOT NULL DEFAULT 0 CHECK (entries >= 0);
ALTER TABLE pages ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0;
