package pathway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

func (o *office) view(tb testing.TB, id string, before, limit int) pathway.ChatView {
	tb.Helper()
	v, err := o.Chat(tb.Context(), "a", id, before, limit)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// entries returns the entries of a kind in a log.
func entries(l pathway.Log, kind pathway.LogKind) (found []pathway.LogEntry) {
	for _, e := range l.Entries {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// TestChatIsReadBack checks that Chat returns the answers of all turns, even of a completed chat.
func TestChatIsReadBack(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("{{clinic}}, Tuesday or Thursday?"))
	first := o.chat(t, pathway.ChatRequest{Pathway: p.ID, Variables: map[string]any{"clinic": "North clinic"}})
	v := o.view(t, first.Chat.ID, 0, 0)
	if v.Node.ID != "day" || v.Refusal != nil || len(v.Turns) != 1 || v.Turns[0].Said != first.Replies[0] || v.State.Turn != 1 {
		t.Fatalf("got %+v", v)
	}
	if given := entries(v.Turns[0], pathway.LogVariables); len(given) != 1 || given[0].Variables["clinic"] != "North clinic" {
		t.Errorf("what was given is %+v", given)
	}
	o.say(t, first.Chat, "")
	last := o.say(t, first.Chat, "Thursday, please.")
	v = o.view(t, first.Chat.ID, 0, 2)
	wantCode(t, "a chat that is over", v.Refusal, callwright.CodeInvalidState, "")
	if len(v.Turns) != 2 || v.Turns[0].Said != "Are you still there?" || v.Turns[0].Heard != "" || v.Node.ID != "bye" ||
		v.State.Variables["day"] != "Thursday" {
		t.Fatalf("got %+v", v)
	}
	decided, set := entries(v.Turns[1], pathway.LogDecision), entries(v.Turns[1], pathway.LogVariables)
	if v.Turns[1].Heard != "Thursday, please." || v.Turns[1].Said != last.Replies[0] || len(decided) != 1 || decided[0].Chosen != "bye" ||
		decided[0].Text == "" || len(set) != 1 || set[0].Variables["day"] != "Thursday" {
		t.Errorf("got %+v", v.Turns[1])
	}
	if v = o.view(t, first.Chat.ID, 3, 1); len(v.Turns) != 1 || v.Turns[0].Turn != 2 {
		t.Errorf("before the third turn is %+v", v.Turns)
	}
	for _, key := range [][2]string{{"b", first.Chat.ID}, {"a", "nobodys"}} {
		_, err := o.Chat(t.Context(), callwright.OrgID(key[0]), key[1], 0, 0)
		wantCode(t, key[1], err, callwright.CodeNotFound, "")
	}
}

// TestChatViewSaysWhyNot checks that Refusal predicts the errors of Say during a turn and after a change of the draft.
func TestChatViewSaysWhyNot(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, hooked())
	chat := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
	o.requests.Answer = func(context.Context, request.Request) (request.Response, error) {
		wantCode(t, "during a turn", o.view(t, chat.ID, 0, 0).Refusal, callwright.CodeConflict, "")
		return request.Response{Status: 200, Body: []byte("{}")}, nil
	}
	o.say(t, chat, "Go.")
	if v := o.view(t, chat.ID, 0, 0); v.Refusal != nil || len(entries(v.Turns[1], pathway.LogRequest)) != 1 {
		t.Errorf("got %+v", v)
	}
	d := days("Another?")
	if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &d.Nodes, Edges: &d.Edges}); err != nil {
		t.Fatal(err)
	}
	v := o.view(t, chat.ID, 0, 0)
	wantCode(t, "a draft that has changed", v.Refusal, callwright.CodeInvalidState, "")
	if v.Node != nil || len(v.Turns) != 2 {
		t.Errorf("got %+v", v)
	}
}

// TestSameMessageTwice checks that SayAfter runs only one turn if the same message is sent several times.
func TestSameMessageTwice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.requests.Answer = agentstest.JSON("{}")
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
	say := func() error { _, err := o.SayAfter(t.Context(), "a", chat.ID, 1, "Go."); return err }
	errs := atOnce(say, say, say)
	slices.SortFunc(errs, func(a, b error) int { return len(callwright.CodeOf(a)) - len(callwright.CodeOf(b)) })
	wantCode(t, "the first", errs[0], "", "")
	for _, err := range append(errs[1:], say()) {
		wantCode(t, "the same again", err, callwright.CodeConflict, "")
	}
	if v := o.view(t, chat.ID, 0, 0); v.State.Turn != 2 || len(v.Turns) != 2 || len(o.requests.Made()) != 1 {
		t.Errorf("%d turns, %d requests", v.State.Turn, len(o.requests.Made()))
	}
}

// TestChatWithoutLogs checks that a chat of an older release, without logs, can continue.
func TestChatWithoutLogs(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	kept, err := o.chats.Chat(t.Context(), "a", o.chat(t, pathway.ChatRequest{Pathway: o.create(t, days("Tuesday or Thursday?")).ID}).Chat.ID)
	if err != nil {
		t.Fatal(err)
	}
	kept.ID = "old"
	if err := o.chats.InsertChat(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if v := o.view(t, "old", 0, 0); len(v.Turns) != 0 || v.State.Turn != 1 || v.State.Talk.Messages[0].Text != "Tuesday or Thursday?" {
		t.Fatalf("got %+v", v)
	}
	o.say(t, kept, "Tuesday.")
	if v := o.view(t, "old", 0, 0); len(v.Turns) != 1 || v.Turns[0].Turn != 2 {
		t.Errorf("got %+v", v.Turns)
	}
}

// TestLogsOfChatsAreBounded checks that the stored log of a turn whose requests have large answers is bounded and states that something is
// left out, although the returned log is complete.
func TestLogsOfChatsAreBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.requests.Answer = agentstest.JSON(`{"much": "` + strings.Repeat("x", 20<<10) + `"}`)
	nodes := []string{`{"id":"ask","type":"Wait for Response","data":{"isStart":true}}`}
	last := "ask"
	for i := range 5 {
		id := fmt.Sprint("hook", i)
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":"Webhook","data":{"name":"Hook","url":"https://x.example/","method":"POST","body":"{}",
			"responseData":[{"name":"much%d","data":"$.much"}]}}`, id, i), fmt.Sprintf(`{"id":"to %s","source":%q,"target":%q,"data":{"alwaysPick":true}}`, id, last, id))
		last = id
	}
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, document(nodes...)).ID}).Chat
	said := o.say(t, chat, "Go.")
	kept := o.view(t, chat.ID, 0, 0).Turns[1]
	if n := len(raw(kept)); n > 40<<10 {
		t.Errorf("%d bytes are kept", n)
	}
	if n := len(raw(said.Log)); n < 200<<10 || len(entries(said.Log, pathway.LogRequest)) != 5 {
		t.Errorf("the turn has %d bytes", n)
	}
	if got := entries(kept, pathway.LogRequest); len(got) != 5 || got[4].Request.URL == "" {
		t.Errorf("of the requests are left %+v", got)
	}
	if errs := entries(kept, pathway.LogError); len(errs) == 0 || !strings.Contains(errs[len(errs)-1].Text, "left out") {
		t.Errorf("nothing says that something is left out: %+v", errs)
	}
	huge := o.chat(t, pathway.ChatRequest{Pathway: chat.Pathway, Variables: map[string]any{"a": []any{strings.Repeat("x", 1<<20)}}}).Chat
	if given := o.view(t, huge.ID, 0, 0); len(given.Turns[0].Entries) == 0 || given.Turns[0].Entries[0].Variables != nil {
		t.Errorf("of what was given is kept %d bytes", len(fmt.Sprint(given.Turns[0])))
	}
}

// TestSilentTurnsAreBounded checks that the number of turns is limited even if turns add no messages.
func TestSilentTurnsAreBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, document(
		`{"id":"hold","type":"Default","data":{"name":"Hold","isStart":true,"text":"Please hold.","modelOptions":{"disableSilenceRepeat":true}}}`,
	)).ID}).Chat
	for range pathway.MaxMessages - 1 {
		o.say(t, chat, "")
	}
	_, err := o.Say(t.Context(), "a", chat.ID, "")
	wantCode(t, "one more", err, callwright.CodeInvalidState, "")
	if v := o.view(t, chat.ID, 0, 0); len(v.Turns) != pathway.MaxPageOfChats || v.State.Turn != pathway.MaxMessages {
		t.Errorf("%d turns on a page, %d in all", len(v.Turns), v.State.Turn)
	}
}

func TestChatsOfAPathway(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("?"))
	var want, got []string
	for range 5 {
		o.clock.move(1)
		want = append([]string{o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat.ID}, want...)
	}
	for after := (callwright.Keyset{}); ; {
		page, err := o.Chats(t.Context(), "a", p.ID, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Items {
			got = append(got, c.ID)
		}
		if after = page.Next; after.IsZero() {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
