-- What the metrics tell of scans.
ALTER TABLE scans ADD COLUMN duration_ms INTEGER;                       -- of the last one that could be made; NULL: not known
ALTER TABLE scans ADD COLUMN failures_total INTEGER NOT NULL DEFAULT 0; -- scans that could not be made, ever
UPDATE scans SET failures_total = failures;
