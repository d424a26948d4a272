-- announced_at is when the publisher of a page last said of it that it had changed. NULL is zero.
ALTER TABLE pages ADD COLUMN announced_at bigint;
