-- The days since each page that is counted as found or lost was looked at before, added up. Of what was counted before it is not known: two
-- weeks each, so that they count as all different pages.
ALTER TABLE daily ADD COLUMN found_days bigint NOT NULL DEFAULT 0;
ALTER TABLE daily ADD COLUMN lost_days bigint NOT NULL DEFAULT 0;
UPDATE daily SET found_days = found * 14, lost_days = lost * 14 WHERE found + lost > 0;
-- Since when so many of a host's pages are lost at once that they do not count as gone; 0: they do.
ALTER TABLE hosts ADD COLUMN guarded_at bigint NOT NULL DEFAULT 0;
CREATE INDEX hosts_guarded ON hosts (bucket, id) WHERE guarded_at > 0;
-- The share of a site's pages that is usually lost in a day.
ALTER TABLE sites ADD COLUMN loss_per_day real NOT NULL DEFAULT 0;
