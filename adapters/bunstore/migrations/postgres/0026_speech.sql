-- Voices of organizations. name_key is the form of the name by which names are compared.
CREATE TABLE voices (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org        TEXT COLLATE "C" NOT NULL,
    name_key   TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    version    BIGINT NOT NULL,
    document   TEXT NOT NULL -- JSON
);
CREATE UNIQUE INDEX voices_by_name ON voices (org, name_key);
CREATE INDEX voices_by_creation ON voices (org, created_at, id);

-- Past speech outputs. Several may share a blob, which holds their audio.
CREATE TABLE speech_samples (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org         TEXT COLLATE "C" NOT NULL,
    user_id     TEXT NOT NULL,
    text        TEXT NOT NULL,
    voice       TEXT COLLATE "C" NOT NULL,
    language    TEXT NOT NULL,
    format      TEXT NOT NULL,
    digest      TEXT COLLATE "C" NOT NULL, -- of what the audio is made of
    blob        TEXT COLLATE "C" NOT NULL,
    bytes       BIGINT NOT NULL,
    duration_ns BIGINT NOT NULL,
    latency_ns  BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX speech_samples_by_age ON speech_samples (created_at, id);
CREATE INDEX speech_samples_by_org ON speech_samples (org, created_at, id);
CREATE INDEX speech_samples_by_voice ON speech_samples (org, voice, created_at, id);
CREATE INDEX speech_samples_by_digest ON speech_samples (org, digest, created_at, id);
CREATE INDEX speech_samples_by_blob ON speech_samples (org, blob);

-- How many samples an organization has, in all where voice is empty and of one voice otherwise.
CREATE TABLE speech_counts (
    org     TEXT COLLATE "C" NOT NULL,
    voice   TEXT COLLATE "C" NOT NULL,
    samples BIGINT NOT NULL,
    PRIMARY KEY (org, voice)
);
