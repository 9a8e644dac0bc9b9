-- Reason why words of the other side are missing from a line; empty if none are missing.
ALTER TABLE transcript_entries ADD COLUMN unrecognized TEXT NOT NULL DEFAULT '';
