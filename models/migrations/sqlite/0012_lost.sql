-- The archive has lost the body of the page's newest version. Of a version whose body is lost, record_length is negative.
ALTER TABLE pages ADD COLUMN lost INTEGER NOT NULL DEFAULT 0 CHECK (lost IN (0, 1));
