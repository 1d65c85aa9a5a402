-- Of the table that the highest marks are of: another one in its place starts anew.
ALTER TABLE scans ADD COLUMN top_uuid TEXT;
ALTER TABLE scans ADD COLUMN top_files INTEGER;
UPDATE scans SET top_files = file_count;
