-- Since when so many of a site's pages were lost at once that they do not count as gone (0: they do), and when somebody approved of it.
ALTER TABLE sites ADD COLUMN guarded_at bigint NOT NULL DEFAULT 0;
ALTER TABLE sites ADD COLUMN approved_at bigint NOT NULL DEFAULT 0;
-- Pages with a copy that were looked at on a day and found, or not found.
ALTER TABLE daily ADD COLUMN found bigint NOT NULL DEFAULT 0;
ALTER TABLE daily ADD COLUMN lost bigint NOT NULL DEFAULT 0;
