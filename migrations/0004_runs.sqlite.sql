-- When data or proof of life came last, and the highest that any scan saw: what lies below has gone back.
ALTER TABLE scans ADD COLUMN last_run INTEGER;
ALTER TABLE scans ADD COLUMN top_version INTEGER;
ALTER TABLE scans ADD COLUMN top_transaction TEXT;
UPDATE scans SET last_run = last_data_commit, top_version = version, top_transaction = latest_transaction;
