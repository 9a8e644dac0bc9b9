-- Organizations prove that they answer a number before they attach it inbound.
CREATE TABLE sip_number_proofs (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org        TEXT COLLATE "C" NOT NULL,
    number     TEXT COLLATE "C" NOT NULL,
    state      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    hash       TEXT NOT NULL, -- HMAC of the code, which is kept nowhere
    tries      INTEGER NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    called_at  TIMESTAMPTZ,
    expires_at TIMESTAMPTZ NOT NULL,
    version    BIGINT NOT NULL
);
CREATE INDEX sip_number_proofs_latest ON sip_number_proofs (org, number, created_at, id);
CREATE INDEX sip_number_proofs_by_org ON sip_number_proofs (org, created_at);
CREATE INDEX sip_number_proofs_by_number ON sip_number_proofs (number, created_at);
CREATE INDEX sip_number_proofs_by_age ON sip_number_proofs (created_at);
