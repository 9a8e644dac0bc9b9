-- Port orders that wait for the operator of this deployment. What must be secret is sealed.
CREATE TABLE port_manual_orders (
    ref        TEXT      NOT NULL PRIMARY KEY,
    key        TEXT      NOT NULL UNIQUE,
    open       BOOLEAN   NOT NULL, -- a number has not ended
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version    INTEGER   NOT NULL, -- counts changes
    document   TEXT      NOT NULL  -- sealed
);
CREATE INDEX port_manual_orders_by_creation ON port_manual_orders (created_at, ref);
CREATE INDEX port_manual_orders_open ON port_manual_orders (created_at, ref) WHERE open;
