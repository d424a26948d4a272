-- asked_at is when somebody last asked for visits to pages of a host while it was leased: they may have been under way.
ALTER TABLE hosts ADD COLUMN asked_at bigint NOT NULL DEFAULT 0;
