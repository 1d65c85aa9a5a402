-- What scans saw over time. A row is a run of scans that saw the same: so many rows as something changed.
CREATE TABLE samples (
    table_id INTEGER NOT NULL,
    at       INTEGER NOT NULL,          -- the first scan of the run
    until    INTEGER NOT NULL,          -- the last one
    numbers  TEXT NOT NULL,             -- JSON array, in the order of monitors/samples.c
    PRIMARY KEY (table_id, at)
) STRICT, WITHOUT ROWID;

-- Suspects that looked wrong once and were fine at the next look, ever.
ALTER TABLE scans ADD COLUMN flapping INTEGER NOT NULL DEFAULT 0;
