-- What the adaptive policy learns and needs. A backup of step 1 is restored by these defaults.

-- A page's own evidence of its change rate (gamma shape and rate beyond the prior), and its worth beside other pages.
ALTER TABLE pages ADD COLUMN evidence_changes REAL NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN evidence_days REAL NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN importance REAL NOT NULL DEFAULT 0;

ALTER TABLE hosts ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0 CHECK (ahead IN (0, 1));
ALTER TABLE hosts ADD COLUMN learned INTEGER NOT NULL DEFAULT 0 CHECK (learned >= 0);

-- The hosts that wait for a page to become due and for nothing else, so that it may be visited early. A host that
-- politeness or its error clock holds back longer than its pages, and one that is leased, is not in it.
CREATE INDEX hosts_ahead ON hosts (bucket, ready_at, id)
    WHERE ahead AND lease_until = 0 AND ready_at > open_at AND ready_at > backoff_until;

-- Apart from the host's row, which each claim writes anew.
CREATE TABLE knowledge (
    bucket  INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    body    BLOB NOT NULL,
    PRIMARY KEY (bucket, host_id),
    FOREIGN KEY (bucket, host_id) REFERENCES hosts (bucket, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE notes (
    name TEXT NOT NULL PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;
