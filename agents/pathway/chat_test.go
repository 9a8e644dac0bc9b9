package pathway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// hooked returns a document that sends a request to a webhook after the caller's first words, and then waits again.
func hooked() graph.Document {
	return document(
		`{"id":"ask","type":"Wait for Response","data":{"isStart":true}}`,
		`{"id":"hook","type":"Webhook","data":{"name":"Hook","url":"https://x.example/","method":"POST","body":"{}"}}`,
		`{"id":"done","type":"Default","data":{"name":"Done","text":"It is done."}}`,
		`{"id":"e1","source":"ask","target":"hook","data":{"alwaysPick":true}}`,
		`{"id":"e2","source":"hook","target":"done","data":{"alwaysPick":true}}`,
	)
}

func (o *office) chat(tb testing.TB, r pathway.ChatRequest) pathway.ChatTurn {
	tb.Helper()
	turn, err := o.StartChat(tb.Context(), "a", r)
	if err != nil {
		tb.Fatal(err)
	}
	return turn
}

func (o *office) say(tb testing.TB, chat pathway.Chat, text string) pathway.ChatTurn {
	tb.Helper()
	turn, err := o.Say(tb.Context(), "a", chat.ID, text)
	if err != nil {
		tb.Fatal(err)
	}
	return turn
}

func TestChat(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("{{clinic}}, Tuesday or Thursday?"))
	first := o.chat(t, pathway.ChatRequest{Pathway: p.ID, Variables: map[string]any{"clinic": "North clinic"}})
	if !slices.Equal(first.Replies, []string{"North clinic, Tuesday or Thursday?"}) || first.Node.ID != "day" || first.Chat.Completed {
		t.Fatalf("got %+v", first)
	}
	second := o.say(t, first.Chat, "Thursday, please.")
	if !slices.Equal(second.Replies, []string{"Thursday it is. Goodbye."}) || second.Node.ID != "bye" || !second.Chat.Completed ||
		second.State.Variables["day"] != "Thursday" || second.State.Variables["clinic"] != "North clinic" || second.Log.Turn != 2 {
		t.Errorf("got %+v", second)
	}
	if messages := second.State.Talk.Messages; len(messages) != 3 || messages[1].Role != llm.RoleCaller || second.Chat.Messages != 3 {
		t.Errorf("the talk is %+v", messages)
	}
	_, err := o.Say(t.Context(), "a", first.Chat.ID, "And then?")
	wantCode(t, "a chat that is over", err, callwright.CodeInvalidState, "")
}

func TestChatSilence(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, days("Tuesday or Thursday?")).ID})
	for range 2 {
		if got := o.say(t, first.Chat, " "); !slices.Equal(got.Replies, []string{"Are you still there?"}) {
			t.Errorf("got %q", got.Replies)
		}
	}
	if got := o.say(t, first.Chat, ""); !got.Chat.Completed {
		t.Errorf("after the third time it goes on: %+v", got)
	}
}

func TestChatBegins(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) { c.Gate = nil })
	p := o.create(t, days("Draft?"))
	begin := func(r pathway.ChatRequest) (string, int) {
		r.Pathway = p.ID
		turn := o.chat(t, r)
		return turn.Replies[0], turn.Chat.Number
	}
	if text, number := begin(pathway.ChatRequest{}); text != "Draft?" || number != 0 {
		t.Errorf("with nothing in production it is %q of %d", text, number)
	}
	o.storeVersion(t, p.ID, days("One?"))
	o.storeVersion(t, p.ID, days("Two?"))
	if _, err := o.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1}); err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]pathway.ChatRequest{
		"One?": {}, "Two?": {Version: &pathway.Selector{Number: 2}}, "Draft?": {Version: &pathway.Selector{}},
		" it is. Goodbye.": {StartNode: "bye"},
	} {
		if text, _ := begin(r); strings.TrimSpace(text) != strings.TrimSpace(want) {
			t.Errorf("%+v gave %q", r, text)
		}
	}
}

func TestChatBeginsNowhere(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p, empty := o.create(t, days("?")), o.create(t, graph.Document{})
	for name, test := range map[string]struct {
		org   callwright.OrgID
		r     pathway.ChatRequest
		code  callwright.Code
		field string
	}{
		"an absent pathway":      {"a", pathway.ChatRequest{Pathway: "x"}, callwright.CodeNotFound, "pathway_id"},
		"another organization's": {"b", pathway.ChatRequest{Pathway: p.ID}, callwright.CodeNotFound, "pathway_id"},
		"an empty draft":         {"a", pathway.ChatRequest{Pathway: empty.ID}, callwright.CodeInvalidState, "pathway_version"},
		"an absent node":         {"a", pathway.ChatRequest{Pathway: p.ID, StartNode: "x"}, callwright.CodeBadRequest, "start_node_id"},
		"an absent version": {
			"a", pathway.ChatRequest{Pathway: p.ID, Version: &pathway.Selector{Number: 1}}, callwright.CodeNotFound, "pathway_version",
		},
	} {
		_, err := o.StartChat(t.Context(), test.org, test.r)
		wantCode(t, name, err, test.code, test.field)
	}
}

func TestSayRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, days("?")).ID}).Chat
	for name, text := range map[string]string{
		"a book": strings.Repeat("x", pathway.MaxText+1), "no text": "\xff",
	} {
		_, err := o.Say(t.Context(), "a", chat.ID, text)
		wantCode(t, name, err, callwright.CodeBadRequest, "message")
	}
	_, err := o.Say(t.Context(), "b", chat.ID, "Hello.")
	wantCode(t, "another organization's", err, callwright.CodeNotFound, "")
	_, err = o.Say(t.Context(), "a", "absent", "Hello.")
	wantCode(t, "an absent one", err, callwright.CodeNotFound, "")
	if o.say(t, chat, strings.Repeat("é", pathway.MaxText)).Chat.Messages != 3 {
		t.Error("what fits was not heard")
	}
}

func TestChatTooLong(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, days("?")).ID}).Chat
	for chat.Messages+2 <= pathway.MaxMessages {
		chat = o.say(t, chat, "Monday.").Chat
	}
	_, err := o.Say(t.Context(), "a", chat.ID, "Tuesday.")
	wantCode(t, "one more", err, callwright.CodeInvalidState, "")
}

func TestChatWithDraft(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("?"))
	chat := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
	same := pathway.ChatRequest{Pathway: p.ID, Version: &pathway.Selector{Number: o.storeVersion(t, p.ID, days("?")).Number}}
	version := o.chat(t, same).Chat
	moved := days("?").Nodes
	moved[0] = json.RawMessage(strings.Replace(string(moved[0]), `"type"`, `"position":{"x":1,"y":2},"type"`, 1))
	name := "Renamed"
	if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Name: &name, Nodes: &moved}); err != nil {
		t.Fatal(err)
	}
	o.say(t, chat, "Hm.") // fields for editors do not change the graph
	other := days("Other?")
	if _, err := o.Update(t.Context(), "a", p.ID, pathway.Change{Nodes: &other.Nodes}); err != nil {
		t.Fatal(err)
	}
	_, err := o.Say(t.Context(), "a", chat.ID, "Hm.")
	wantCode(t, "another draft", err, callwright.CodeInvalidState, "")
	o.say(t, version, "Hm.") // a changed draft does not affect chats with a version
}

func TestChatOutlivesItsVersion(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, graph.Document{})
	o.storeVersion(t, p.ID, days("Tuesday or Thursday?"))
	r := pathway.ChatRequest{Pathway: p.ID, Version: &pathway.Selector{Number: 1}}
	chat := o.chat(t, r).Chat
	if err := o.Discard(t.Context(), "a", p.ID, 1); err != nil {
		t.Fatal(err)
	}
	_, err := o.StartChat(t.Context(), "a", r)
	wantCode(t, "another chat", err, callwright.CodeNotFound, "pathway_version")
	o.say(t, chat, "Hm.")
	later := newOffice(t, func(c *pathway.Config) { c.Store, c.Chats = o.store, o.chats }) // another node, which has not cached the graph
	if got := later.say(t, chat, "Tuesday."); !got.Chat.Completed {
		t.Errorf("got %+v", got)
	}
	chat = o.chat(t, pathway.ChatRequest{Pathway: o.create(t, days("?")).ID}).Chat
	if err := o.Delete(t.Context(), "a", chat.Pathway); err != nil {
		t.Fatal(err)
	}
	_, err = o.Say(t.Context(), "a", chat.ID, "Tuesday.")
	wantCode(t, "a deleted pathway", err, callwright.CodeNotFound, "")
}

// TestOneTurnAtATime checks that Say returns CodeConflict during another turn of the chat, and that the refused messages have no effect.
func TestOneTurnAtATime(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	answer := make(chan struct{})
	asked := make(chan struct{}, 1)
	o.requests.Answer = func(context.Context, request.Request) (request.Response, error) {
		asked <- struct{}{}
		<-answer
		return request.Response{Status: 200, Body: []byte("{}")}, nil
	}
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
	var first pathway.ChatTurn
	var firstErr error
	var turn sync.WaitGroup
	turn.Go(func() { first, firstErr = o.Say(t.Context(), "a", chat.ID, "Go.") })
	<-asked
	for range 3 {
		_, err := o.Say(t.Context(), "a", chat.ID, "Go on.")
		wantCode(t, "a second speaker", err, callwright.CodeConflict, "")
	}
	close(answer)
	turn.Wait()
	if firstErr != nil || !slices.Equal(first.Replies, []string{"It is done."}) || len(o.requests.Made()) != 1 {
		t.Errorf("got %+v, %v; the webhook was asked %d times", first.Replies, firstErr, len(o.requests.Made()))
	}
	o.say(t, chat, "Thank you.")
}

// TestClaimEnds checks that a chat whose process died within a turn can continue after the claim has expired.
func TestClaimEnds(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
	died := chat
	died.BusyUntil = o.clock.Now().Add(90 * time.Second)
	if err := o.chats.UpdateChat(t.Context(), died); err != nil {
		t.Fatal(err)
	}
	_, err := o.Say(t.Context(), "a", chat.ID, "Go.")
	wantCode(t, "too early", err, callwright.CodeConflict, "")
	o.clock.move(90 * time.Second)
	if got := o.say(t, chat, "Go."); !slices.Equal(got.Replies, []string{"It is done."}) || !got.Chat.BusyUntil.IsZero() {
		t.Errorf("got %+v", got)
	}
}

// TestTurnGoesOnAlone checks that a turn is completed although the context passed to Say is canceled during a webhook request.
func TestTurnGoesOnAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ctx, leave := context.WithCancel(t.Context())
	o.requests.Answer = func(ctx context.Context, _ request.Request) (request.Response, error) {
		leave()
		return request.Response{Status: 200, Body: []byte("{}")}, ctx.Err()
	}
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
	if _, err := o.Say(ctx, "a", chat.ID, "Go."); err != nil {
		t.Fatal(err)
	}
	if got := o.say(t, chat, "And?"); got.State.Turn != 3 || len(o.requests.Made()) != 1 {
		t.Errorf("got %+v", got.State)
	}
}

// TestTurnTakesTooLong checks that Say returns CodeUnavailable after a minute if the model does not answer. In the next turn, the model
// must receive the caller's words of both turns.
func TestTurnTakesTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := &agentstest.Model{
			Says: func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
				if len(r.Messages) > 0 {
					<-ctx.Done()
				}
				return agentstest.Texts("Hello."), ctx.Err()
			},
		}
		o := newOffice(t, func(c *pathway.Config) { c.Interpreter.Model = model })
		p := o.create(t, document(`{"id":"talk","type":"Default","data":{"isStart":true,"prompt":"Talk."}}`))
		chat := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
		began := time.Now()
		_, err := o.Say(t.Context(), "a", chat.ID, "Hello?")
		wantCode(t, "a model that hangs", err, callwright.CodeUnavailable, "")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %s", took)
		}
		model.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) { return agentstest.Texts("Yes?"), nil }
		got := o.say(t, chat, "Are you there?")
		if heard := got.State.Talk.Messages[1].Text; heard != "Hello? Are you there?" || !slices.Equal(got.Replies, []string{"Yes?"}) {
			t.Errorf("heard %q, and said %q", heard, got.Replies)
		}
	})
}

func TestModelFailsInChat(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) {
		c.Interpreter.Model = &agentstest.Model{Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			if len(r.Messages) > 0 {
				return nil, &llm.Failure{Class: llm.ClassQuota, Message: "nothing left"}
			}
			return agentstest.Texts("Hello."), nil
		}}
	})
	p := o.create(t, document(`{"id":"talk","type":"Default","data":{"isStart":true,"prompt":"Talk."}}`))
	chat := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
	got := o.say(t, chat, "Hello?")
	if !got.Chat.Completed || len(got.Replies) != 1 || !strings.Contains(got.Replies[0], "sorry") {
		t.Errorf("got %+v", got)
	}
	if !slices.ContainsFunc(got.Log.Entries, func(e pathway.LogEntry) bool { return e.Kind == pathway.LogError }) {
		t.Errorf("the log says nothing: %+v", got.Log)
	}
}

// TestForgetsNoBusyChat checks that the deletion of idle chats spares a chat with a running turn.
func TestForgetsNoBusyChat(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
	o.clock.move(8 * 24 * time.Hour)
	o.requests.Answer = func(ctx context.Context, _ request.Request) (request.Response, error) {
		_, err := o.chats.DeleteOldChats(ctx, o.clock.Now().Add(-7*24*time.Hour), 10)
		return request.Response{Status: 200, Body: []byte("{}")}, err
	}
	o.say(t, chat, "Go.")
}

func TestForgetsChats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		p := o.create(t, days("?"))
		idle := make([]pathway.Chat, 1200) // more than one batch
		for i := range idle {
			idle[i] = pathway.Chat{
				ID: fmt.Sprint("c", i), Org: "a", Pathway: p.ID, State: json.RawMessage("{}"), UpdatedAt: o.clock.Now(),
			}
			if err := o.chats.InsertChat(t.Context(), idle[i]); err != nil {
				t.Fatal(err)
			}
		}
		o.clock.move(7*24*time.Hour + time.Second)
		fresh := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() { _ = o.work.Run(ctx) })
		time.Sleep(time.Hour + time.Second) // in the bubble's time
		synctest.Wait()
		for _, c := range idle {
			_, err := o.chats.Chat(t.Context(), "a", c.ID)
			wantCode(t, c.ID, err, callwright.CodeNotFound, "")
		}
		o.say(t, fresh, "Tuesday.")
		stop()
		working.Wait()
	})
}
