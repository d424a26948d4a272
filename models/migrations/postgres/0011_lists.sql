-- Sitemaps and feeds are pages: entries is how many pages one names, told_at when a list of its host last said of a page that
-- it had changed. NULL is zero.
ALTER TABLE pages ADD COLUMN entries integer;
ALTER TABLE pages ADD COLUMN told_at bigint;
