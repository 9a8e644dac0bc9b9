-- The log of each turn of a chat is kept with it. Chats of earlier releases have none of their first turns.
CREATE TABLE pathway_chat_logs (
    chat_id TEXT    NOT NULL REFERENCES pathway_chats (id) ON DELETE CASCADE,
    turn    INTEGER NOT NULL,
    log     TEXT    NOT NULL, -- JSON, which JSONB would not keep as it is
    PRIMARY KEY (chat_id, turn)
);

-- The chats of a pathway are listed by their time.
DROP INDEX pathway_chats_by_pathway;
CREATE INDEX pathway_chats_by_pathway ON pathway_chats (pathway_id, created_at, id);
