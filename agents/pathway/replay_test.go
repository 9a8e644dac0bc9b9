package pathway_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
)

// replay replays lines with a pathway's draft.
func (o *office) replay(t *testing.T, id string, said ...string) pathway.ChatReplay {
	t.Helper()
	got, err := o.ReplayChat(t.Context(), "a", pathway.ReplayRequest{
		ChatRequest: pathway.ChatRequest{Pathway: id, Variables: map[string]any{"clinic": "North clinic"}}, Said: said,
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReplayChat(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("{{clinic}}, Tuesday or Thursday?"))
	first := o.replay(t, p.ID, "Hm.")
	want := []pathway.ReplayedTurn{{Said: "North clinic, Tuesday or Thursday?", Node: "day"}, {Said: "North clinic, Tuesday or Thursday?", Node: "day"}}
	if !slices.Equal(first.Turns, want) || first.Chat.Completed || first.Chat.Messages != 3 {
		t.Fatalf("got %+v", first)
	}
	second := o.say(t, first.Chat, "Thursday, please.")
	if !second.Chat.Completed || second.State.Variables["day"] != "Thursday" || second.Log.Turn != 3 {
		t.Errorf("got %+v", second)
	}
	if v := o.view(t, first.Chat.ID, 0, 0); len(v.Turns) != 3 || v.Turns[1].Heard != "Hm." || v.Turns[0].Said != want[0].Said {
		t.Errorf("the logs are %+v", v.Turns)
	}
	// The replay says no more lines after the conversation has ended.
	whole := o.replay(t, p.ID, "Thursday, please.", "And then?", "More.")
	if len(whole.Turns) != 2 || whole.Turns[1] != (pathway.ReplayedTurn{Said: "Thursday it is. Goodbye.", Node: "bye"}) || !whole.Chat.Completed {
		t.Errorf("got %+v", whole)
	}
	if none := o.replay(t, p.ID); len(none.Turns) != 1 {
		t.Errorf("got %+v", none)
	}
}

// TestReplaySendsNothing checks that requests of replayed turns use the given client, and that requests of later turns are sent.
func TestReplaySendsNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p, caught := o.create(t, hooked()), &agentstest.Requests{}
	request := pathway.ReplayRequest{ChatRequest: pathway.ChatRequest{Pathway: p.ID}, Requests: caught, Said: []string{"Go."}}
	got, err := o.ReplayChat(t.Context(), "a", request)
	if err != nil || len(got.Turns) != 2 || got.Turns[1].Said != "It is done." {
		t.Fatalf("got %+v, %v", got, err)
	}
	if len(caught.Made()) != 1 || len(o.requests.Made()) != 0 {
		t.Errorf("%d were caught and %d sent", len(caught.Made()), len(o.requests.Made()))
	}
	request.Said = nil
	if got, err = o.ReplayChat(t.Context(), "a", request); err != nil {
		t.Fatal(err)
	}
	o.say(t, got.Chat, "Go.")
	if len(caught.Made()) != 1 || len(o.requests.Made()) != 1 {
		t.Errorf("%d were caught and %d sent", len(caught.Made()), len(o.requests.Made()))
	}
}

func TestReplayBeginsNowhere(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.create(t, days("?"))
	for name, test := range map[string]struct {
		r     pathway.ChatRequest
		code  callwright.Code
		field string
	}{
		"an absent pathway": {pathway.ChatRequest{Pathway: "x"}, callwright.CodeNotFound, "pathway_id"},
		"an absent version": {
			pathway.ChatRequest{Pathway: p.ID, Version: &pathway.Selector{Number: 1}}, callwright.CodeNotFound, "pathway_version",
		},
		"an absent node": {pathway.ChatRequest{Pathway: p.ID, StartNode: "x"}, callwright.CodeBadRequest, "start_node_id"},
	} {
		_, err := o.ReplayChat(t.Context(), "a", pathway.ReplayRequest{ChatRequest: test.r})
		wantCode(t, name, err, test.code, test.field)
	}
	wantChats(t, o, 0)
}

// wantChats checks the number of stored chats of the organization "a".
func wantChats(t *testing.T, o *office, want int) {
	t.Helper()
	if n, err := o.chats.CountChats(t.Context(), "a"); err != nil || n != want {
		t.Errorf("there are %d chats, %v; want %d", n, err, want)
	}
}

// slow returns an office whose model delays each reply, and the id of a pathway.
func slow(t *testing.T, takes time.Duration) (*office, string) {
	t.Helper()
	o := newOffice(t, func(c *pathway.Config) {
		c.Clock, c.Interpreter.Clock = nil, nil
		c.Interpreter.Model = &agentstest.Model{Says: func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			select {
			case <-time.After(takes):
				return agentstest.Texts(fmt.Sprint("Reply ", len(r.Messages), ".")), nil
			case <-ctx.Done():
				return nil, &llm.Failure{Class: llm.ClassTransient, Message: "cut off", Cause: ctx.Err()}
			}
		}}
	})
	return o, o.create(t, document(`{"id":"talk","type":"Default","data":{"isStart":true,"prompt":"Talk."}}`)).ID
}

// TestReplayIsBounded checks that only the turns of the first two minutes are stored, and that no chat is stored if the first words take
// longer than a turn may.
func TestReplayIsBounded(t *testing.T) {
	t.Parallel()
	lines := slices.Repeat([]string{"Go on."}, 40)
	synctest.Test(t, func(t *testing.T) {
		o, id := slow(t, 50*time.Second)
		if got := o.replay(t, id, lines...); len(got.Turns) != 2 || got.Chat.Completed || got.Chat.Messages != 3 {
			t.Errorf("got %d turns, %+v", len(got.Turns), got.Chat)
		}
		wantChats(t, o, 1)
	})
	synctest.Test(t, func(t *testing.T) {
		o, id := slow(t, 2*time.Minute)
		_, err := o.ReplayChat(t.Context(), "a", pathway.ReplayRequest{ChatRequest: pathway.ChatRequest{Pathway: id}, Said: lines})
		wantCode(t, "a model that is too slow", err, callwright.CodeUnavailable, "")
		wantChats(t, o, 0)
	})
}

// TestReplayIsInterrupted checks that a replay stores no chat if its context is canceled or its node stops.
func TestReplayIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(o *office, cancel context.CancelFunc){
		"by its client": func(_ *office, cancel context.CancelFunc) { cancel() },
		"by the node": func(o *office, _ context.CancelFunc) {
			over, cancel := context.WithCancel(context.Background())
			cancel()
			_ = o.Close(over)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o, id := slow(t, 10*time.Second)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					time.Sleep(25 * time.Second)
					stop(o, cancel)
				}()
				_, err := o.ReplayChat(ctx, "a", pathway.ReplayRequest{ChatRequest: pathway.ChatRequest{Pathway: id}, Said: []string{"1", "2", "3", "4"}})
				wantCode(t, name, err, callwright.CodeUnavailable, "")
				wantChats(t, o, 0)
				synctest.Wait()
			})
		})
	}
}

// TestReplayWithoutModel checks that the agent apologizes and the chat is completed if the model fails, as in any chat.
func TestReplayWithoutModel(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *pathway.Config) {
		c.Interpreter.Model = &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return nil, &llm.Failure{Class: llm.ClassPermanent, Message: "gone"}
		}}
	})
	id := o.create(t, document(`{"id":"talk","type":"Default","data":{"isStart":true,"prompt":"Talk."}}`)).ID
	if got := o.replay(t, id, "Go on."); len(got.Turns) != 1 || !got.Chat.Completed || got.Turns[0].Said == "" {
		t.Errorf("got %+v", got)
	}
}
