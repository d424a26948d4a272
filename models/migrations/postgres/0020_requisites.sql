-- A page that is kept because others need it to be shown, where NULL is false, and an event of one. Most events have a value in each column, so
-- that a first NULL would take 8 bytes where false takes one.
ALTER TABLE pages ADD COLUMN requisite boolean;
ALTER TABLE events ADD COLUMN requisite boolean NOT NULL DEFAULT false;
-- How many of the pages counted are such: they have no say in whether pages vanish.
ALTER TABLE hosts ADD COLUMN requisites integer NOT NULL DEFAULT 0;
ALTER TABLE page_counts ADD COLUMN requisites bigint NOT NULL DEFAULT 0;
