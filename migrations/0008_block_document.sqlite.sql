-- Which document of somebody else stops the publication of a table.
ALTER TABLE tables ADD COLUMN block_document TEXT; -- NULL: not blocked by a document
