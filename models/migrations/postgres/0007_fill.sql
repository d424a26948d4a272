-- Every visit moves a page within pages_due, so its new row never shares the index entries of the old one (HOT), and room
-- beside the old one is of no use: it made the table a quarter larger.
ALTER TABLE pages SET (fillfactor = 100);
