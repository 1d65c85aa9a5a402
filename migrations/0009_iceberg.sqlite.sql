-- The metadata of Iceberg tables as it is answered, so that a load neither reads storage nor parses.
CREATE TABLE iceberg_tables (
    table_id INTEGER PRIMARY KEY,
    metadata TEXT NOT NULL,
    refs     TEXT                          -- with the snapshots alone that a ref names; NULL: the same text
) STRICT;

-- Views have no files and no monitors; they share their names with the tables of their namespace.
CREATE TABLE views (
    id                INTEGER PRIMARY KEY,
    uuid              TEXT NOT NULL,
    namespace_id      INTEGER NOT NULL REFERENCES namespaces (id),
    name              TEXT NOT NULL,
    location          TEXT NOT NULL,
    metadata_location TEXT NOT NULL,
    metadata          TEXT NOT NULL,
    revision          INTEGER NOT NULL,    -- raised by every change
    created_at        INTEGER NOT NULL,
    changed_at        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX views_name ON views (namespace_id, name);

-- Answers of the Iceberg face by their Idempotency-Key. Final ones alone: 2xx and refusals that stay refusals.
CREATE TABLE requests (
    principal   TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint TEXT NOT NULL,             -- of method, path and body
    status      INTEGER NOT NULL,
    body        TEXT NOT NULL,             -- '' when the answer is read anew
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_created ON requests (created_at);

-- Dropped with purge: the files that still are to go. One row a table or view, until all of them are gone.
CREATE TABLE purges (
    id                INTEGER PRIMARY KEY,
    name              TEXT NOT NULL,       -- dotted, for the log
    location          TEXT NOT NULL,
    metadata_location TEXT NOT NULL,
    metadata          TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    due_at            INTEGER NOT NULL,    -- later after each failure
    failures          INTEGER NOT NULL
) STRICT;
CREATE INDEX purges_due ON purges (due_at);

-- What engines report of their scans and commits.
CREATE TABLE reports (
    id       INTEGER PRIMARY KEY,
    table_id INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,                -- scan, commit
    snapshot INTEGER,
    report   TEXT NOT NULL                 -- JSON: rows, bytes, files, duration
) STRICT;
CREATE INDEX reports_table ON reports (table_id, at);
