-- Port orders that wait for the operator of this deployment. What must be secret is sealed.
CREATE TABLE port_manual_orders (
    ref        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    key        TEXT COLLATE "C" NOT NULL UNIQUE,
    open       BOOLEAN          NOT NULL, -- a number has not ended
    created_at TIMESTAMPTZ      NOT NULL,
    updated_at TIMESTAMPTZ      NOT NULL,
    version    BIGINT           NOT NULL, -- counts changes
    document   TEXT             NOT NULL  -- sealed
);
CREATE INDEX port_manual_orders_by_creation ON port_manual_orders (created_at, ref);
CREATE INDEX port_manual_orders_open ON port_manual_orders (created_at, ref) WHERE open;
