-- Of PostgreSQL alone.
SELECT 1;
