-- Where a robots.txt that is redirected leads, which is asked for next, and by how many redirects: each takes a visit. Empty and 0: the
-- last answer was none. Hops are never negative; not a CHECK, because Citus adds no column with one to a distributed table.
ALTER TABLE robots ADD COLUMN leads_to text NOT NULL DEFAULT '';
ALTER TABLE robots ADD COLUMN hops smallint NOT NULL DEFAULT 0;
