-- Hosts that have taken no message of an organization since a time.
CREATE TABLE endpoints (
    org       TEXT COLLATE "C" NOT NULL,
    host      TEXT COLLATE "C" NOT NULL,
    since     TIMESTAMPTZ NOT NULL,
    failures  INTEGER NOT NULL,
    failure   TEXT NOT NULL,
    last_at   TIMESTAMPTZ NOT NULL,
    paused_at TIMESTAMPTZ,
    trial_at  TIMESTAMPTZ,
    version   BIGINT NOT NULL,
    PRIMARY KEY (org, host)
);
