-- What people and windows say of a finding, and whether anybody was told of it.
ALTER TABLE findings ADD COLUMN ack_by TEXT;           -- NULL: not acknowledged
ALTER TABLE findings ADD COLUMN ack_comment TEXT;
ALTER TABLE findings ADD COLUMN ack_at INTEGER;
ALTER TABLE findings ADD COLUMN ack_until INTEGER;     -- NULL: until it closes
ALTER TABLE findings ADD COLUMN accept_reason TEXT;    -- NULL: not accepted
ALTER TABLE findings ADD COLUMN accept_by TEXT;
ALTER TABLE findings ADD COLUMN accept_at INTEGER;
ALTER TABLE findings ADD COLUMN suppressed_by TEXT;    -- at the last look; NULL: nothing
ALTER TABLE findings ADD COLUMN told_at INTEGER;       -- the newest finding.opened of it; NULL: none
ALTER TABLE findings ADD COLUMN closed_reason TEXT;
UPDATE findings SET told_at = opened_at WHERE opened_at IS NOT NULL;
UPDATE findings SET closed_reason = 'cleared' WHERE closed_at IS NOT NULL;

CREATE INDEX findings_closed ON findings (closed_at) WHERE closed_at IS NOT NULL;
-- Whose root is lost: asked for by the root's location.
CREATE INDEX findings_root ON findings (subject)
    WHERE code = 'storage_unreachable' AND closed_at IS NULL AND told_at IS NOT NULL;
