-- What the adaptive policy learns and needs. A backup of step 1 is restored by these defaults.

-- A page's own evidence of its change rate (gamma shape and rate beyond the prior), and its worth beside other pages.
ALTER TABLE pages ADD COLUMN evidence_changes real NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN evidence_days real NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN importance real NOT NULL DEFAULT 0;

ALTER TABLE hosts ADD COLUMN ahead boolean NOT NULL DEFAULT false;
ALTER TABLE hosts ADD COLUMN learned integer NOT NULL DEFAULT 0 CHECK (learned >= 0);

-- The hosts that wait for a page to become due and for nothing else, so that it may be visited early. A host that
-- politeness or its error clock holds back longer than its pages, and one that is leased, is not in it.
CREATE INDEX hosts_ahead ON hosts (bucket, ready_at, id)
    WHERE ahead AND lease_until = 0 AND ready_at > open_at AND ready_at > backoff_until;

-- Apart from the host's row, which each claim writes anew.
CREATE TABLE knowledge (
    bucket  smallint NOT NULL,
    host_id bigint NOT NULL,
    body    bytea NOT NULL,
    PRIMARY KEY (bucket, host_id),
    FOREIGN KEY (bucket, host_id) REFERENCES hosts (bucket, id) ON DELETE CASCADE
);

CREATE TABLE notes (
    name text NOT NULL PRIMARY KEY,
    body bytea NOT NULL
);
