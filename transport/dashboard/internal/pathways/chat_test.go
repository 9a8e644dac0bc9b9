package pathways_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// said returns the form of a chat's next turn.
func said(turns int, text string) url.Values {
	return url.Values{"turns": {fmt.Sprint(turns)}, "message": {text}}
}

// hold is a pathway whose conversation continues while the caller is silent.
const hold = `{"nodes": [
{"id": "hold", "type": "Default", "data": {"name": "Hold", "isStart": true, "text": "Please hold.", "modelOptions": {"disableSilenceRepeat": true}}}],
"edges": []}`

func (h *house) create(text string) string {
	h.t.Helper()
	return h.want("/pathways", url.Values{"name": {"a"}, "document": {text}}, http.StatusOK)
}

func TestChat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	always := strings.Replace(days, `"label": "a day"`, `"alwaysPick": true`, 1)
	at := h.create(always)
	h.want(at, nil, http.StatusOK, "Nobody has chatted")
	h.want(at+"/chats", nil, http.StatusOK, "There are no chats")
	h.want(at+"/versions/0", url.Values{"document": {always}, "name": {"First"}, "as": {"version"}}, http.StatusOK)
	begin := at + "/versions/1/chats"
	h.want(begin, url.Values{"variables": {"[]"}}, http.StatusUnprocessableEntity, "must be a JSON object", "[]")
	h.want(begin, url.Values{"start_node": {"nowhere"}}, http.StatusUnprocessableEntity, "must be the id of a node of the pathway", `value="nowhere"`)
	h.want(at+"/versions/9/chats", url.Values{}, http.StatusNotFound)

	chat := h.want(begin, url.Values{"variables": {`{"clinic": "<script>alert(2)</script>"}`}}, http.StatusOK,
		"Chat with version 1", "waits for the caller", "Which day?", `href="`+at+`/versions/1?node=day#drawing"`, "clinic", "given at the start", "came to")
	h.want(at+"/versions/1?node=day", nil, http.StatusOK, "box selected")
	h.want(chat, said(1, ""), http.StatusOK, "Are you still there?", "silence")
	h.want(chat, said(1, "Tuesday <script>alert(3)</script>"), http.StatusUnprocessableEntity, "Nothing was said: the chat has changed since this turn began: read it again. If you sent a message twice",
		"<dt>Turns</dt><dd>2</dd>", `name="turns" value="2"`, `value="Tuesday &lt;script&gt;alert(3)&lt;/script&gt;"`)
	h.want(chat, said(2, strings.Repeat("x", pathway.MaxText+1)), http.StatusUnprocessableEntity, "must be valid UTF-8 of at most")
	h.want(chat, said(2, "Tuesday <script>alert(3)</script>"), http.StatusOK, "completed", "Tuesday &lt;script&gt;alert(3)", "Goodbye.",
		"decided at", "→ bye", "The conversation is over.", at+"/versions/1#begin")
	h.want(chat, said(3, "And then?"), http.StatusUnprocessableEntity, "Nothing was said: the chat is completed", "You wanted to say: And then?")
	h.want(at, nil, http.StatusOK, chat, "completed")
	h.want(h.want(begin, url.Values{}, http.StatusOK), nil, http.StatusOK)
	h.want(at+"/chats", nil, http.StatusOK, "</span> open</span>")
	h.want(at+"/chats", nil, http.StatusOK, chat, "version 1")
	h.want(chat, url.Values{"turns": {"x"}}, http.StatusBadRequest)
}

func TestForeignChat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	chat := h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK, "Chat with the draft")
	id := chat[strings.LastIndex(chat, "/")+1:]
	theirs, err := h.pathways.Create(t.Context(), "other", pathway.Draft{Name: "theirs", Document: documentOf(t, days)})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := h.pathways.StartChat(t.Context(), "other", pathway.ChatRequest{Pathway: theirs.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/pathways/" + theirs.ID + "/chats/" + foreign.Chat.ID, at + "/chats/" + foreign.Chat.ID, h.create(days) + "/chats/" + id} {
		h.want(path, nil, http.StatusNotFound)
		h.want(path, said(1, "Hi."), http.StatusNotFound)
	}
	if v, err := h.pathways.Chat(t.Context(), "other", foreign.Chat.ID, 0, 0); err != nil || v.State.Turn != 1 {
		t.Errorf("a foreign chat has %d turns, %v", v.State.Turn, err)
	}
}

// TestStarter checks that the document in the creation form is a valid pathway, and that a chat with it works.
func TestStarter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	found := regexp.MustCompile(`(?s)<textarea id="document"[^>]*>\n?(.*?)</textarea>`).FindStringSubmatch(pagetest.Send(t, h.client, h.url+"/pathways/new", nil).Body)
	if found == nil {
		t.Fatal("the form has no document")
	}
	at := h.create(html.UnescapeString(found[1]))
	chat := h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK, "which day suits you?")
	h.want(chat, said(1, "Tuesday, please."), http.StatusOK, "Thank you. Goodbye.", "completed", "The conversation is over.")
	other := h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK)
	h.want(other, said(1, "I do not know."), http.StatusOK, "waits for the caller")
}

func documentOf(t *testing.T, text string) (d graph.Document) {
	t.Helper()
	var read struct {
		Nodes []json.RawMessage `json:"nodes"`
		Edges []json.RawMessage `json:"edges"`
	}
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	return graph.Document(read)
}

// TestChatCannotGoOn checks the pages of a chat whose draft has changed, a chat whose turn is running, and a chat that an earlier release
// started. Only the last can continue. The pages of the others must give the reason and show the submitted text again.
func TestChatCannotGoOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	chat := h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK, "Chat with the draft")
	h.want(at+"/versions/0", url.Values{"document": {hold}, "as": {"draft"}}, http.StatusOK)
	h.want(chat, nil, http.StatusOK, "cannot go on", "the draft has changed", at+"/versions/0#begin")
	h.want(chat, said(1, "A day"), http.StatusUnprocessableEntity, "Nothing was said: the draft has changed", "You wanted to say: A day")

	chat = h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK)
	kept, err := h.chats.Chat(t.Context(), "acme", chat[strings.LastIndex(chat, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	old := kept
	old.ID = "old"
	if err := h.chats.InsertChat(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	h.want(at+"/chats/old", nil, http.StatusOK, "An earlier release ran these turns", "Please hold.", `name="message"`)
	kept.BusyUntil = kept.CreatedAt.AddDate(1, 0, 0)
	if err := h.chats.UpdateChat(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	h.want(chat, nil, http.StatusOK, "the agent answers", "A turn is running", "<body data-live ")
	h.want(chat, said(1, "Hello?"), http.StatusUnprocessableEntity, "Nothing was said: another turn of this chat is running", "<dt>Turns</dt><dd>1</dd>", "Say this again when", `value="Hello?"`)
	h.want(chat, said(1, ""), http.StatusUnprocessableEntity, "Nothing was said: another turn", "<body data-live ", "appears here when the turn has ended")
}

// TestBusyChat checks that the form shows the typed text again while the server accepts no more turns.
func TestBusyChat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	chat := h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK)
	h.chats.busy.Store(true)
	h.want(chat, said(1, "A day"), http.StatusUnprocessableEntity, "Nothing was said: too many chats. Try again in 1.0 s.", `value="A day"`, `name="turns" value="1"`)
	h.want(at+"/versions/0/chats", url.Values{"variables": {`{"day": 1}`}}, http.StatusUnprocessableEntity, "too many chats", "{&#34;day&#34;: 1}")
	h.chats.busy.Store(false)
	h.want(chat, said(1, "A day"), http.StatusOK, "<dt>Turns</dt><dd>2</dd>")
}

// TestLongChat checks that the links between the pages of a chat reach all turns, even if the chat has the maximum number of turns.
func TestLongChat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(hold)
	chat := h.want(at+"/versions/0/chats", url.Values{}, http.StatusOK)
	id := chat[strings.LastIndex(chat, "/")+1:]
	for range pathway.MaxMessages - 1 {
		if _, err := h.pathways.Say(t.Context(), "acme", id, ""); err != nil {
			t.Fatal(err)
		}
	}
	h.want(chat, nil, http.StatusOK, "the chat has reached its limit of 1000 messages or turns")
	links, turns := regexp.MustCompile(`href="(\?before=\d+)">← Earlier`), regexp.MustCompile(`id="turn-(\d+)"`)
	path, seen, pages := chat, map[string]bool{}, 0
	for ; path != ""; pages++ {
		body := pagetest.Send(t, h.client, h.url+path, nil).Body
		found := turns.FindAllStringSubmatch(body, -1)
		if len(found) != 50 || len(body) > 60<<10 {
			t.Fatalf("%s has %d turns in %d bytes", path, len(found), len(body))
		}
		for _, turn := range found {
			seen[turn[1]] = true
		}
		if path = ""; links.MatchString(body) {
			path = chat + links.FindStringSubmatch(body)[1]
		}
	}
	if len(seen) != pathway.MaxMessages || pages != pathway.MaxMessages/50 {
		t.Errorf("%d turns on %d pages", len(seen), pages)
	}
	h.want(chat+"?before=51", nil, http.StatusOK, `id="turn-1"`, "?before=101")
	h.want(chat+"?before=x", nil, http.StatusBadRequest)
}
