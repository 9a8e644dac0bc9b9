-- Hosts that have taken no message of an organization since a time.
CREATE TABLE endpoints (
    org       TEXT NOT NULL,
    host      TEXT NOT NULL,
    since     TIMESTAMP NOT NULL,
    failures  INTEGER NOT NULL,
    failure   TEXT NOT NULL,
    last_at   TIMESTAMP NOT NULL,
    paused_at TIMESTAMP,
    trial_at  TIMESTAMP,
    version   INTEGER NOT NULL,
    PRIMARY KEY (org, host)
);
