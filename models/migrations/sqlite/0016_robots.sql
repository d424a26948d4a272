-- Where a robots.txt that is redirected leads, which is asked for next, and by how many redirects: each takes a visit. Empty and 0: the
-- last answer was none.
ALTER TABLE robots ADD COLUMN leads_to TEXT NOT NULL DEFAULT '';
ALTER TABLE robots ADD COLUMN hops INTEGER NOT NULL DEFAULT 0 CHECK (hops >= 0);
