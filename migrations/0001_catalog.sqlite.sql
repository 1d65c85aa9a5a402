-- The first shape of the catalog. Instants are UTC ms; JSON stands as text.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Ids that own rows but are no table: taken for a table to come (its files are staged before it
-- exists), or left by one that went. AUTOINCREMENT: an id is never given twice.
CREATE TABLE loose_ids (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    purged INTEGER NOT NULL DEFAULT 0      -- 1: nothing will use the rows any more
) STRICT;

-- What a namespace says its tables inherit; NULL: the namespace around it decides.
CREATE TABLE namespaces (
    id                   INTEGER PRIMARY KEY,
    name                 TEXT NOT NULL,    -- canonical dotted text
    created_at           INTEGER NOT NULL,
    hidden               INTEGER NOT NULL DEFAULT 0, -- 1: deleted, kept for its dropped tables
    properties           TEXT NOT NULL DEFAULT '{}',
    owner                TEXT,
    monitors             TEXT NOT NULL DEFAULT '{}',
    enforcement          TEXT,
    verify               TEXT,
    history_retention_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX namespaces_name ON namespaces (name);

CREATE TABLE tables (
    id                 INTEGER PRIMARY KEY,
    uuid               TEXT NOT NULL,
    namespace_id       INTEGER NOT NULL REFERENCES namespaces (id),
    name               TEXT NOT NULL,
    format             TEXT NOT NULL,
    mode               TEXT NOT NULL,
    location           TEXT NOT NULL,
    metadata_location  TEXT,
    version            INTEGER NOT NULL,
    published_version  INTEGER NOT NULL,
    oldest_version     INTEGER NOT NULL,   -- older ones are no longer kept
    first_version      INTEGER NOT NULL,   -- there never were older ones here: 0, or the one adopted
    log_from           INTEGER NOT NULL,   -- commits below it are forgotten, but for what their replay needs
    staging            INTEGER NOT NULL,   -- version whose rows a large commit is writing now, 0: none
    latest_transaction TEXT,
    schema_version     INTEGER NOT NULL,
    published_schema   INTEGER NOT NULL,   -- newest schema version that schema.json shows
    republish          INTEGER NOT NULL DEFAULT 0, -- changes since that documents show besides versions
    file_count         INTEGER NOT NULL,
    total_bytes        INTEGER NOT NULL,
    partition_keys     TEXT NOT NULL,
    properties         TEXT NOT NULL,
    owner              TEXT,
    monitors           TEXT NOT NULL,
    enforcement        TEXT,               -- NULL: the namespace decides, as of the next one
    verify             TEXT,
    publish            INTEGER NOT NULL,
    protected          INTEGER NOT NULL,
    block              TEXT,
    created_at         INTEGER NOT NULL,
    committed_at       INTEGER NOT NULL,
    revision           INTEGER NOT NULL,
    dropped_at         INTEGER
) STRICT;
CREATE UNIQUE INDEX tables_uuid ON tables (uuid);
CREATE UNIQUE INDEX tables_live_name ON tables (namespace_id, name) WHERE dropped_at IS NULL;
CREATE INDEX tables_staging ON tables (id) WHERE staging > 0;
CREATE INDEX tables_location ON tables (location);
CREATE INDEX tables_dropped ON tables (dropped_at) WHERE dropped_at IS NOT NULL;
CREATE INDEX tables_dropped_name ON tables (namespace_id, name, id) WHERE dropped_at IS NOT NULL;
CREATE INDEX tables_unpublished ON tables (id)
    WHERE dropped_at IS NULL AND mode = 'managed' AND publish = 1 AND block IS NULL
      AND (published_version < version OR published_schema < schema_version OR republish > 0);

-- A file row is written in version order (the key), found live by path, and found again
-- when the version that removed it is told: the three ways it is asked for.
CREATE TABLE files (
    table_id         INTEGER NOT NULL,
    added_version    INTEGER NOT NULL,
    path             TEXT NOT NULL,
    removed_version  INTEGER,
    size             INTEGER NOT NULL,
    records          INTEGER,
    schema_version   INTEGER,
    partition_values TEXT,
    column_stats     TEXT,
    PRIMARY KEY (table_id, added_version, path)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX files_live ON files (table_id, path) WHERE removed_version IS NULL;
CREATE INDEX files_removed ON files (table_id, removed_version) WHERE removed_version IS NOT NULL;

-- Files that no kept version has any more, until they are gone from storage.
CREATE TABLE retired_files (
    table_id   INTEGER NOT NULL,
    path       TEXT NOT NULL,
    size       INTEGER NOT NULL,
    removed_at INTEGER,
    PRIMARY KEY (table_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE commits (
    table_id       INTEGER NOT NULL,
    version        INTEGER NOT NULL,
    "transaction"  TEXT NOT NULL,
    committed_at   INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    metadata       TEXT,
    data_change    INTEGER NOT NULL,
    files_added    INTEGER NOT NULL,
    files_removed  INTEGER NOT NULL,
    bytes_added    INTEGER NOT NULL,
    bytes_removed  INTEGER NOT NULL,
    file_count     INTEGER NOT NULL,
    total_bytes    INTEGER NOT NULL,
    body_hash      TEXT NOT NULL,
    batch_ids      TEXT,                   -- JSON array: the staged batches that it applied
    group_id       TEXT,                   -- shared by the commits of one request over several tables
    PRIMARY KEY (table_id, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX commits_transaction ON commits (table_id, "transaction");

-- What a rollback was: version `version` restored the snapshot of `to_version`. Kept as long as the table.
CREATE TABLE rollbacks (
    table_id   INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    to_version INTEGER NOT NULL,
    PRIMARY KEY (table_id, version)
) STRICT, WITHOUT ROWID;

-- Snapshots that lie beside the log, so that its older entries can go.
CREATE TABLE checkpoints (
    table_id      INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    "transaction" TEXT NOT NULL,
    PRIMARY KEY (table_id, version)
) STRICT, WITHOUT ROWID;

-- Log entries that lay on storage before Tarn took the table over: history without a version.
CREATE TABLE adopted_entries (
    table_id      INTEGER NOT NULL,
    position      INTEGER NOT NULL,        -- oldest first
    "transaction" TEXT NOT NULL,
    committed_at  INTEGER NOT NULL,
    metadata      TEXT,
    data_change   INTEGER NOT NULL,
    files_added   INTEGER NOT NULL,
    files_removed INTEGER NOT NULL,
    bytes_added   INTEGER NOT NULL,
    PRIMARY KEY (table_id, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX adopted_entries_transaction ON adopted_entries (table_id, "transaction");

-- Ids that lie on storage in entries that are no commits of the table: no commit may take them.
CREATE TABLE taken_ids (
    table_id      INTEGER NOT NULL,
    "transaction" TEXT NOT NULL,
    prefix        TEXT NOT NULL,           -- before the number at its end; the whole id when there is none
    number        INTEGER,
    PRIMARY KEY (table_id, "transaction")
) STRICT, WITHOUT ROWID;
CREATE INDEX taken_ids_number ON taken_ids (table_id, prefix, number) WHERE number IS NOT NULL;

CREATE TABLE schemas (
    table_id   INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    schema     TEXT NOT NULL,
    renames    TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (table_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    principal  TEXT NOT NULL,
    method     TEXT NOT NULL,
    path       TEXT NOT NULL,
    table_uuid TEXT NOT NULL,
    key        TEXT NOT NULL,
    body_hash  TEXT NOT NULL,
    version    INTEGER NOT NULL,           -- the commit that the first answer told
    created_at INTEGER NOT NULL,
    PRIMARY KEY (principal, method, path, table_uuid, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_created ON idempotency (created_at);

-- Checkpoints of staged batches. A commit completes its batches in its own transaction; the documents
-- under processed/ follow (published: the revision that storage shows).
CREATE TABLE batches (
    table_id    INTEGER NOT NULL,
    batch_id    TEXT NOT NULL,
    status      TEXT NOT NULL,
    start_time  INTEGER,
    end_time    INTEGER,
    num_records INTEGER,
    size        INTEGER,
    version     INTEGER,                   -- of the commit that applied it
    updated_at  INTEGER NOT NULL,
    shown_from  INTEGER NOT NULL,          -- the document waits until storage shows this version
    revision    INTEGER NOT NULL,
    published   INTEGER NOT NULL,
    foreign_doc INTEGER NOT NULL,          -- 1: somebody else's document lies in its place
    PRIMARY KEY (table_id, batch_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_status ON batches (table_id, status, batch_id);
CREATE INDEX batches_version ON batches (table_id, version) WHERE version IS NOT NULL;
CREATE INDEX batches_pending ON batches (table_id, batch_id) WHERE published < revision;

-- Commits that applied a batch and were rolled back before it went on: they may count again one day.
CREATE TABLE batches_past (
    table_id INTEGER NOT NULL,
    batch_id TEXT NOT NULL,
    version  INTEGER NOT NULL,
    PRIMARY KEY (table_id, batch_id, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_past_version ON batches_past (table_id, version);

CREATE TABLE publications (
    table_id        INTEGER PRIMARY KEY,
    version         INTEGER NOT NULL,
    manifest_sha256 TEXT NOT NULL,
    manifest_token  TEXT NOT NULL,
    links           INTEGER NOT NULL       -- 1: _symlink_format_manifest/ shows the version too
) STRICT;

-- Each table has its row from the start, due at once; `scanned` tells whether the rest means anything.
CREATE TABLE scans (
    table_id           INTEGER PRIMARY KEY,
    scanned            INTEGER NOT NULL,
    parked             INTEGER NOT NULL,   -- 1: the table is dropped, nothing is due
    checked_at         INTEGER,
    checked_version    INTEGER NOT NULL,
    next_probe_at      INTEGER NOT NULL,
    next_sweep_at      INTEGER NOT NULL,
    failures           INTEGER NOT NULL,
    first_failed_at    INTEGER,
    version            INTEGER,
    latest_transaction TEXT,
    last_updated       INTEGER,
    file_count         INTEGER,
    total_bytes        INTEGER,
    schema_version     INTEGER,
    partition_keys     TEXT,
    manifest_age_ms    INTEGER,
    last_data_commit   INTEGER,
    details            TEXT NOT NULL,
    verdict            TEXT NOT NULL,
    judged             INTEGER NOT NULL,
    verdict_since      INTEGER NOT NULL
) STRICT;
CREATE INDEX scans_due ON scans (next_probe_at) WHERE parked = 0;

CREATE TABLE findings (
    id          TEXT PRIMARY KEY,
    table_id    INTEGER NOT NULL,
    code        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    severity    TEXT NOT NULL,
    message     TEXT NOT NULL,
    observed    TEXT,
    expected    TEXT,
    unit        TEXT,
    cure        TEXT,
    evidence    TEXT,
    since       INTEGER NOT NULL,
    opened_at   INTEGER,
    closed_at   INTEGER,
    last_bad_at INTEGER NOT NULL,
    bad_looks   INTEGER NOT NULL,
    good_looks  INTEGER NOT NULL,
    baseline    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX findings_live ON findings (table_id, code, subject) WHERE closed_at IS NULL;
CREATE INDEX findings_table ON findings (table_id, closed_at);

CREATE TABLE tokens (
    name       TEXT PRIMARY KEY,
    hash       TEXT NOT NULL,
    scope      TEXT NOT NULL,
    tables     TEXT,
    roots      TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);

-- What happened, in the order in which it became durable. A number is never given twice.
CREATE TABLE events (
    sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
    type      TEXT NOT NULL,
    table_id  INTEGER NOT NULL,
    namespace TEXT NOT NULL,               -- the table's name as it was then
    name      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    data      TEXT NOT NULL                -- JSON object: what else the event tells
) STRICT;
