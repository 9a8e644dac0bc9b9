-- The changes of a number's task, pathway or persona that the last update refused, as JSON; NULL if there were none.
ALTER TABLE inbound_numbers ADD COLUMN refused JSONB;
