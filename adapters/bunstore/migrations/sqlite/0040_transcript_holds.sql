-- Pauses of the agent while the other side spoke, as JSON; NULL if there were none.
ALTER TABLE transcript_entries ADD COLUMN holds TEXT;
