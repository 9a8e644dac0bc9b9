-- Whatever belongs to an issue has its organization with it: the foreign keys refuse what names an issue of another.
CREATE TABLE triage_counters (
    org    TEXT    NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL -- of the last issue
);

-- The texts come last: SQLite reads a row from its beginning, and no further than it must.
CREATE TABLE triage_issues (
    id               TEXT      NOT NULL PRIMARY KEY,
    org              TEXT      NOT NULL,
    number           INTEGER   NOT NULL,
    title            TEXT      NOT NULL,
    status           TEXT      NOT NULL,
    status_rank      INTEGER   NOT NULL, -- the places among the statuses and the severities, by which lists are sorted
    severity         TEXT      NOT NULL,
    severity_rank    INTEGER   NOT NULL,
    source           TEXT      NOT NULL,
    category         TEXT      NOT NULL,
    owner_id         TEXT      NOT NULL,
    assignee_id      TEXT      NOT NULL,
    author           TEXT      NOT NULL,
    external_link    TEXT      NOT NULL,
    merged_into      TEXT      NOT NULL,
    resources        INTEGER   NOT NULL,
    flags            INTEGER   NOT NULL,
    relations        INTEGER   NOT NULL,
    session          TEXT,
    working          INTEGER   NOT NULL,
    created_at       TIMESTAMP NOT NULL,
    updated_at       TIMESTAMP NOT NULL,
    last_activity_at TIMESTAMP NOT NULL,
    edits            INTEGER   NOT NULL,
    version          INTEGER   NOT NULL, -- of this row, not of what people edit
    description      TEXT      NOT NULL,
    search_title     TEXT      NOT NULL, -- in lower case
    search_text      TEXT      NOT NULL, -- the description in lower case
    UNIQUE (id, org),
    UNIQUE (org, number)
);
-- Lists come in the order of one of these indexes, and look at the rows of those issues only that the filter chooses.
CREATE INDEX triage_issues_by_activity ON triage_issues
    (org, last_activity_at, id, status, severity, category, owner_id, assignee_id);
CREATE INDEX triage_issues_by_creation ON triage_issues
    (org, created_at, id, status, severity, category, owner_id, assignee_id);
CREATE INDEX triage_issues_by_severity ON triage_issues
    (org, severity_rank, id, status, severity, category, owner_id, assignee_id);
CREATE INDEX triage_issues_by_status ON triage_issues
    (org, status_rank, id, status, severity, category, owner_id, assignee_id);

CREATE TABLE triage_entries (
    id               TEXT      NOT NULL PRIMARY KEY,
    issue_id         TEXT      NOT NULL,
    org              TEXT      NOT NULL,
    created_at       TIMESTAMP NOT NULL,
    kind             TEXT      NOT NULL,
    type             TEXT      NOT NULL,
    detail           TEXT      NOT NULL,
    content          TEXT      NOT NULL, -- JSON: whatever else it shows
    artifact_payload TEXT, -- JSON
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_entries_by_time ON triage_entries (issue_id, created_at, id);

CREATE TABLE triage_comments (
    id         TEXT      NOT NULL PRIMARY KEY,
    issue_id   TEXT      NOT NULL,
    org        TEXT      NOT NULL,
    author     TEXT      NOT NULL,
    detail     TEXT      NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    deleted    BOOLEAN   NOT NULL,
    version    INTEGER   NOT NULL,
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);

CREATE TABLE triage_resources (
    id          TEXT      NOT NULL PRIMARY KEY,
    issue_id    TEXT      NOT NULL,
    org         TEXT      NOT NULL,
    type        TEXT      NOT NULL,
    resource_id TEXT      NOT NULL,
    title       TEXT      NOT NULL,
    status      TEXT      NOT NULL,
    metadata    TEXT,
    attached_by TEXT      NOT NULL,
    created_at  TIMESTAMP NOT NULL,
    UNIQUE (issue_id, type, resource_id),
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);

CREATE TABLE triage_flags (
    id            TEXT      NOT NULL PRIMARY KEY,
    issue_id      TEXT      NOT NULL,
    org           TEXT      NOT NULL,
    call_id       TEXT      NOT NULL,
    type          TEXT      NOT NULL,
    note          TEXT      NOT NULL,
    node_id       TEXT      NOT NULL,
    node_name     TEXT      NOT NULL,
    message_index INTEGER,
    message_text  TEXT      NOT NULL,
    created_by    TEXT      NOT NULL,
    created_at    TIMESTAMP NOT NULL,
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_flags_by_issue ON triage_flags (issue_id, created_at, id);

CREATE TABLE triage_relations (
    id         TEXT      NOT NULL PRIMARY KEY,
    org        TEXT      NOT NULL,
    type       TEXT      NOT NULL,
    from_id    TEXT      NOT NULL,
    to_id      TEXT      NOT NULL,
    created_by TEXT      NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (from_id, to_id, type),
    FOREIGN KEY (from_id, org) REFERENCES triage_issues (id, org),
    FOREIGN KEY (to_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_relations_to ON triage_relations (to_id);

CREATE TABLE triage_sessions (
    id         TEXT      NOT NULL PRIMARY KEY,
    issue_id   TEXT      NOT NULL,
    org        TEXT      NOT NULL,
    profile_id TEXT      NOT NULL,
    agent_name TEXT      NOT NULL,
    status     TEXT      NOT NULL,
    started_by TEXT      NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    ended_at   TIMESTAMP,
    entries    INTEGER   NOT NULL,
    pending    TEXT,
    analysis   TEXT,
    state      TEXT, -- JSON, of the analysis
    version    INTEGER   NOT NULL,
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_sessions_open ON triage_sessions (issue_id, created_at, id)
    WHERE status IN ('pending', 'active', 'awaiting_input');
CREATE INDEX triage_sessions_by_change ON triage_sessions (status, updated_at)
    WHERE status IN ('pending', 'active', 'awaiting_input');
CREATE INDEX triage_sessions_running ON triage_sessions (org)
    WHERE analysis IS NOT NULL AND status IN ('pending', 'active');

CREATE TABLE triage_reports (
    org      TEXT NOT NULL,
    key      TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    PRIMARY KEY (org, key),
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_reports_by_issue ON triage_reports (issue_id);

CREATE TABLE triage_views (
    org      TEXT      NOT NULL,
    viewer   TEXT      NOT NULL,
    issue_id TEXT      NOT NULL,
    seen_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (org, viewer, issue_id),
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
