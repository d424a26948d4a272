-- How many pages of a host were removed, ever: who remembers that its pages exist, in memory, forgets it when this grows.
ALTER TABLE hosts ADD COLUMN removals integer NOT NULL DEFAULT 0 CHECK (removals >= 0);
