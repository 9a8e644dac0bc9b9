-- A number whose trunk is detached is released: it keeps the settings of its agent, and is not listed.
ALTER TABLE inbound_numbers ADD COLUMN released BOOLEAN NOT NULL DEFAULT FALSE;
