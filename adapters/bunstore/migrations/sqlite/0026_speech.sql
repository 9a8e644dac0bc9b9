-- Voices of organizations. name_key is the form of the name by which names are compared.
CREATE TABLE voices (
    id         TEXT NOT NULL PRIMARY KEY,
    org        TEXT NOT NULL,
    name_key   TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    version    INTEGER NOT NULL,
    document   TEXT NOT NULL -- JSON
);
CREATE UNIQUE INDEX voices_by_name ON voices (org, name_key);
CREATE INDEX voices_by_creation ON voices (org, created_at, id);

-- Past speech outputs. Several may share a blob, which holds their audio.
CREATE TABLE speech_samples (
    id          TEXT NOT NULL PRIMARY KEY,
    org         TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    text        TEXT NOT NULL,
    voice       TEXT NOT NULL,
    language    TEXT NOT NULL,
    format      TEXT NOT NULL,
    digest      TEXT NOT NULL, -- of what the audio is made of
    blob        TEXT NOT NULL,
    bytes       INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    latency_ns  INTEGER NOT NULL,
    created_at  TIMESTAMP NOT NULL
);
CREATE INDEX speech_samples_by_age ON speech_samples (created_at, id);
CREATE INDEX speech_samples_by_org ON speech_samples (org, created_at, id);
CREATE INDEX speech_samples_by_voice ON speech_samples (org, voice, created_at, id);
CREATE INDEX speech_samples_by_digest ON speech_samples (org, digest, created_at, id);
CREATE INDEX speech_samples_by_blob ON speech_samples (org, blob);

-- How many samples an organization has, in all where voice is empty and of one voice otherwise.
CREATE TABLE speech_counts (
    org     TEXT NOT NULL,
    voice   TEXT NOT NULL,
    samples INTEGER NOT NULL,
    PRIMARY KEY (org, voice)
);
