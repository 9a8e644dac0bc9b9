-- Whatever belongs to an issue has its organization with it: the foreign keys refuse what names an issue of another.
-- Ids and keys are compared byte by byte, as SQLite does, whatever the language of the database.
CREATE TABLE triage_counters (
    org    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    number INTEGER          NOT NULL -- of the last issue
);

-- The texts come last: SQLite reads a row from its beginning, and no further than it must.
CREATE TABLE triage_issues (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org              TEXT COLLATE "C" NOT NULL,
    number           INTEGER          NOT NULL,
    title            TEXT             NOT NULL,
    status           TEXT             NOT NULL,
    status_rank      INTEGER          NOT NULL, -- the places among the statuses and the severities, by which lists are sorted
    severity         TEXT             NOT NULL,
    severity_rank    INTEGER          NOT NULL,
    source           TEXT             NOT NULL,
    category         TEXT             NOT NULL,
    owner_id         TEXT             NOT NULL,
    assignee_id      TEXT             NOT NULL,
    author           JSONB            NOT NULL,
    external_link    TEXT             NOT NULL,
    merged_into      TEXT             NOT NULL,
    resources        INTEGER          NOT NULL,
    flags            INTEGER          NOT NULL,
    relations        INTEGER          NOT NULL,
    session          JSONB,
    working          INTEGER          NOT NULL,
    created_at       TIMESTAMPTZ      NOT NULL,
    updated_at       TIMESTAMPTZ      NOT NULL,
    last_activity_at TIMESTAMPTZ      NOT NULL,
    edits            BIGINT           NOT NULL,
    version          BIGINT           NOT NULL, -- of this row, not of what people edit
    description      TEXT             NOT NULL,
    search_title     TEXT             NOT NULL, -- in lower case
    search_text      TEXT             NOT NULL, -- the description in lower case
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
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issue_id         TEXT COLLATE "C" NOT NULL,
    org              TEXT COLLATE "C" NOT NULL,
    created_at       TIMESTAMPTZ      NOT NULL,
    kind             TEXT             NOT NULL,
    type             TEXT             NOT NULL,
    detail           TEXT             NOT NULL,
    content          JSON             NOT NULL, -- whatever else it shows
    artifact_payload TEXT, -- JSON, which JSONB would not keep as it is
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_entries_by_time ON triage_entries (issue_id, created_at, id);

CREATE TABLE triage_comments (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issue_id   TEXT COLLATE "C" NOT NULL,
    org        TEXT COLLATE "C" NOT NULL,
    author     JSONB            NOT NULL,
    detail     TEXT             NOT NULL,
    created_at TIMESTAMPTZ      NOT NULL,
    updated_at TIMESTAMPTZ      NOT NULL,
    deleted    BOOLEAN          NOT NULL,
    version    BIGINT           NOT NULL,
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);

CREATE TABLE triage_resources (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issue_id    TEXT COLLATE "C" NOT NULL,
    org         TEXT COLLATE "C" NOT NULL,
    type        TEXT             NOT NULL,
    resource_id TEXT             NOT NULL,
    title       TEXT             NOT NULL,
    status      TEXT             NOT NULL,
    metadata    JSONB,
    attached_by TEXT             NOT NULL,
    created_at  TIMESTAMPTZ      NOT NULL,
    UNIQUE (issue_id, type, resource_id),
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);

CREATE TABLE triage_flags (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issue_id      TEXT COLLATE "C" NOT NULL,
    org           TEXT COLLATE "C" NOT NULL,
    call_id       TEXT             NOT NULL,
    type          TEXT             NOT NULL,
    note          TEXT             NOT NULL,
    node_id       TEXT             NOT NULL,
    node_name     TEXT             NOT NULL,
    message_index INTEGER,
    message_text  TEXT             NOT NULL,
    created_by    TEXT             NOT NULL,
    created_at    TIMESTAMPTZ      NOT NULL,
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_flags_by_issue ON triage_flags (issue_id, created_at, id);

CREATE TABLE triage_relations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org        TEXT COLLATE "C" NOT NULL,
    type       TEXT             NOT NULL,
    from_id    TEXT COLLATE "C" NOT NULL,
    to_id      TEXT COLLATE "C" NOT NULL,
    created_by TEXT             NOT NULL,
    created_at TIMESTAMPTZ      NOT NULL,
    UNIQUE (from_id, to_id, type),
    FOREIGN KEY (from_id, org) REFERENCES triage_issues (id, org),
    FOREIGN KEY (to_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_relations_to ON triage_relations (to_id);

CREATE TABLE triage_sessions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issue_id   TEXT COLLATE "C" NOT NULL,
    org        TEXT COLLATE "C" NOT NULL,
    profile_id TEXT             NOT NULL,
    agent_name TEXT             NOT NULL,
    status     TEXT             NOT NULL,
    started_by JSONB            NOT NULL,
    created_at TIMESTAMPTZ      NOT NULL,
    updated_at TIMESTAMPTZ      NOT NULL,
    ended_at   TIMESTAMPTZ,
    entries    INTEGER          NOT NULL,
    pending    JSONB,
    analysis   JSONB,
    state      TEXT, -- JSON, which JSONB would not keep as it is; of the analysis
    version    BIGINT           NOT NULL,
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_sessions_open ON triage_sessions (issue_id, created_at, id)
    WHERE status IN ('pending', 'active', 'awaiting_input');
CREATE INDEX triage_sessions_by_change ON triage_sessions (status, updated_at)
    WHERE status IN ('pending', 'active', 'awaiting_input');
CREATE INDEX triage_sessions_running ON triage_sessions (org)
    WHERE analysis IS NOT NULL AND status IN ('pending', 'active');

CREATE TABLE triage_reports (
    org      TEXT COLLATE "C" NOT NULL,
    key      TEXT COLLATE "C" NOT NULL,
    issue_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (org, key),
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
CREATE INDEX triage_reports_by_issue ON triage_reports (issue_id);

CREATE TABLE triage_views (
    org      TEXT COLLATE "C" NOT NULL,
    viewer   TEXT COLLATE "C" NOT NULL,
    issue_id TEXT COLLATE "C" NOT NULL,
    seen_at  TIMESTAMPTZ      NOT NULL,
    PRIMARY KEY (org, viewer, issue_id),
    FOREIGN KEY (issue_id, org) REFERENCES triage_issues (id, org)
);
