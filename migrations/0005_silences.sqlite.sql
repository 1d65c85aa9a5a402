-- Findings that nobody wants to hear of for a while.
CREATE TABLE silences (
    id         TEXT PRIMARY KEY,
    matchers   TEXT NOT NULL,           -- JSON array of {name, value, isRegex, isEqual}
    tables     TEXT,                    -- glob on dotted names that it reaches at most; NULL: all
    starts_at  INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    comment    TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX silences_created ON silences (created_at);
CREATE INDEX silences_ends ON silences (ends_at);
