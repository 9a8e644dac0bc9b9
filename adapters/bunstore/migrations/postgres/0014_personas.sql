CREATE TABLE personas (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org         TEXT COLLATE "C" NOT NULL,
    name        TEXT             NOT NULL,
    role        TEXT             NOT NULL,
    description TEXT             NOT NULL,
    tags        JSONB,
    image_url   TEXT             NOT NULL,
    created_by  TEXT             NOT NULL,
    production  TEXT COLLATE "C" NOT NULL, -- id of a version; empty: none
    draft       TEXT COLLATE "C" NOT NULL, -- likewise
    created_at  TIMESTAMPTZ      NOT NULL,
    updated_at  TIMESTAMPTZ      NOT NULL,
    deleted_at  TIMESTAMPTZ,
    version     BIGINT           NOT NULL  -- of this row, not of the persona
);
CREATE INDEX personas_by_time ON personas (org, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX personas_by_deletion ON personas (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE persona_versions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org        TEXT COLLATE "C" NOT NULL,
    persona_id TEXT COLLATE "C" NOT NULL REFERENCES personas (id) ON DELETE CASCADE,
    number     INTEGER          NOT NULL,
    type       TEXT             NOT NULL,
    created_at TIMESTAMPTZ      NOT NULL,
    updated_at TIMESTAMPTZ      NOT NULL,
    version    BIGINT           NOT NULL, -- of this row
    document   TEXT             NOT NULL  -- sealed, as the headers of its tools may hold keys
);
CREATE UNIQUE INDEX persona_versions_by_number ON persona_versions (persona_id, number);

ALTER TABLE inbound_numbers ADD COLUMN persona_id TEXT COLLATE "C";
CREATE INDEX inbound_numbers_by_persona ON inbound_numbers (org, persona_id) WHERE persona_id IS NOT NULL;
