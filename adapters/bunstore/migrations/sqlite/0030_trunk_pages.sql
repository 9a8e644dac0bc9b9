-- An overview counts trunks by their state and finds those with the longest downtime. Statuses from before have both from their next
-- probe on, which is due within a minute.
ALTER TABLE trunk_statuses ADD COLUMN state TEXT NOT NULL DEFAULT '';
ALTER TABLE trunk_statuses ADD COLUMN down_ns INTEGER NOT NULL DEFAULT 0;
CREATE INDEX trunk_statuses_by_state ON trunk_statuses (org, state, down_ns DESC, number);

-- Who was told of alerts.
CREATE TABLE alert_deliveries (
    id         TEXT        NOT NULL PRIMARY KEY,
    org        TEXT        NOT NULL,
    number     TEXT        NOT NULL,
    trunk_id   TEXT        NOT NULL,
    state      TEXT        NOT NULL,
    created_at TIMESTAMP   NOT NULL,
    document   TEXT        NOT NULL
);
CREATE INDEX alert_deliveries_by_number ON alert_deliveries (org, number, created_at, id);
CREATE INDEX alert_deliveries_by_age ON alert_deliveries (created_at);

-- Set-ups of trunks under way. The password is sealed.
CREATE TABLE trunk_setups (
    id         TEXT        NOT NULL PRIMARY KEY,
    org        TEXT        NOT NULL,
    created_at TIMESTAMP   NOT NULL,
    updated_at TIMESTAMP   NOT NULL,
    version    INTEGER     NOT NULL,
    document   TEXT        NOT NULL,
    password   TEXT        NOT NULL
);
CREATE INDEX trunk_setups_by_org ON trunk_setups (org, updated_at, id);
CREATE INDEX trunk_setups_by_age ON trunk_setups (updated_at);
