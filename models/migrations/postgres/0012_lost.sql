-- The archive has lost the body of the page's newest version. Of a version whose body is lost, record_length is negative. NULL is
-- false.
ALTER TABLE pages ADD COLUMN lost boolean;
