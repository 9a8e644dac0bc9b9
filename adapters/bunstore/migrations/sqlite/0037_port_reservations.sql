-- A ported number belongs to its organization until an operator releases it. The key is the guard: a number has one organization at most.
CREATE TABLE port_reservations (
    number     TEXT      NOT NULL PRIMARY KEY,
    org        TEXT      NOT NULL,
    request_id TEXT      NOT NULL, -- has ported it
    since      TIMESTAMP NOT NULL
);
