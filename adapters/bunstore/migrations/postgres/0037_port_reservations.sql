-- A ported number belongs to its organization until an operator releases it. The key is the guard: a number has one organization at most.
CREATE TABLE port_reservations (
    number     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org        TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL, -- has ported it
    since      TIMESTAMPTZ      NOT NULL
);
