-- A page that is kept because others need it to be shown, and an event of one. Without a CHECK: SQLite would hold all rows there are against it.
ALTER TABLE pages ADD COLUMN requisite INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN requisite INTEGER NOT NULL DEFAULT 0;
-- How many of the pages counted are such: they have no say in whether pages vanish.
ALTER TABLE hosts ADD COLUMN requisites INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page_counts ADD COLUMN requisites INTEGER NOT NULL DEFAULT 0;
