ALTER TABLE trunks ADD COLUMN register_password TEXT NOT NULL DEFAULT ''; -- sealed
ALTER TABLE trunks ADD COLUMN headers JSONB;
ALTER TABLE trunks ADD COLUMN failover JSONB;
ALTER TABLE trunks ADD COLUMN codecs JSONB;
ALTER TABLE trunks ADD COLUMN alerts JSONB;

-- Leases are in no index of statuses, so that taking one changes none.
CREATE TABLE trunk_statuses (
    trunk_id    TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    number      TEXT        NOT NULL,
    probe_at    TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ,
    version     BIGINT      NOT NULL,
    document    JSONB       NOT NULL
);
CREATE INDEX trunk_statuses_due ON trunk_statuses (probe_at);
CREATE INDEX trunk_statuses_by_org ON trunk_statuses (org, number);

CREATE TABLE trunk_registrations (
    trunk_id    TEXT        NOT NULL PRIMARY KEY,
    org         TEXT        NOT NULL,
    number      TEXT        NOT NULL,
    state       TEXT        NOT NULL,
    since       TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ,
    failures    BIGINT      NOT NULL,
    reason      TEXT        NOT NULL,
    next_at     TIMESTAMPTZ NOT NULL,
    node        TEXT        NOT NULL,
    lease_until TIMESTAMPTZ,
    version     BIGINT      NOT NULL
);
CREATE INDEX trunk_registrations_by_node ON trunk_registrations (node, next_at);
CREATE INDEX trunk_registrations_by_lease ON trunk_registrations (lease_until);
