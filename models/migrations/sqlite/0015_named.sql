-- The names of sites that were removed before step 13, out of the events that tell of it: a site without a name has its start URL there.
-- What was removed before there were such events has no name any more.
INSERT INTO removed_sites (bucket, site_id, name, url, seq)
    SELECT bucket, site_id, MAX(note), '', MAX(seq) FROM events WHERE kind = 10 AND note <> '' GROUP BY bucket, site_id
    ON CONFLICT (bucket, site_id) DO NOTHING;
