-- The other side's turn that a line belongs to or answers; 0 if it belongs to none.
ALTER TABLE transcript_entries ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
-- Silence until the turn was over, and its reason, as JSON; NULL if there was none.
ALTER TABLE transcript_entries ADD COLUMN waited TEXT;
-- Early answers to the turn, as JSON; NULL if there were none.
ALTER TABLE transcript_entries ADD COLUMN begun TEXT;
