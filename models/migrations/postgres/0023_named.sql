-- named_at is when something last named a page that was gone and did not name it before. NULL is zero: nothing did.
ALTER TABLE pages ADD COLUMN named_at bigint;
