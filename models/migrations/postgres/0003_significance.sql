-- What counts as a change. A backup of an earlier step is restored by these defaults.

-- The second rate of a page, by its bytes, and the print of its link targets.
ALTER TABLE pages ADD COLUMN byte_changes integer NOT NULL DEFAULT 0 CHECK (byte_changes >= 0);
ALTER TABLE pages ADD COLUMN bytes_at bigint NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN link_print bigint NOT NULL DEFAULT 0;

-- What a host's validators and promises proved to be worth; NULL: nothing is known.
ALTER TABLE hosts ADD COLUMN trials bytea;

ALTER TABLE versions ADD COLUMN significance real NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN reasons integer NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN significance real NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN reasons integer NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN note text NOT NULL DEFAULT '';

-- What is remembered of a page's content (page_id >= 0) and of a host's noise (page_id < 0): apart from their rows, which
-- each visit writes anew.
CREATE TABLE memories (
    bucket  smallint NOT NULL,
    host_id bigint NOT NULL,
    page_id bigint NOT NULL,
    body    bytea NOT NULL,
    PRIMARY KEY (bucket, host_id, page_id),
    FOREIGN KEY (bucket, host_id) REFERENCES hosts (bucket, id) ON DELETE CASCADE
);
