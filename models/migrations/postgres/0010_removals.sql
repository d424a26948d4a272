-- How many pages of a host were removed, ever: who remembers that its pages exist, in memory, forgets it when this grows.
-- Never negative; not a CHECK, because Citus adds no column with one to a distributed table.
ALTER TABLE hosts ADD COLUMN removals integer NOT NULL DEFAULT 0;
