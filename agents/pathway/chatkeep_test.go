package pathway_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// shaky is a store of chats whose writes can fail.
type shaky struct {
	pathway.Chats
	fails func(ctx context.Context, write func() error) error // called in place of each write; if nil, the underlying store writes
}

func (s *shaky) write(ctx context.Context, write func() error) error {
	if s.fails == nil {
		return write()
	}
	return s.fails(ctx, write)
}

func (s *shaky) InsertChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return s.write(ctx, func() error { return s.Chats.InsertChat(ctx, c, logs...) })
}

func (s *shaky) UpdateChat(ctx context.Context, c pathway.Chat, logs ...pathway.Log) error {
	return s.write(ctx, func() error { return s.Chats.UpdateChat(ctx, c, logs...) })
}

// TestDatabaseGoesAwayDuringTurn checks that a turn is stored although the database fails for some seconds after its webhook request.
func TestDatabaseGoesAwayDuringTurn(t *testing.T) {
	t.Parallel()
	refuses := func(context.Context, func() error) error { return callwright.ErrInternal }
	for name, fails := range map[string]func(ctx context.Context, write func() error) error{
		"refuses": refuses,
		"hangs": func(ctx context.Context, _ func() error) error {
			<-ctx.Done()
			return callwright.ErrUnavailable
		},
		"writes without an answer": func(_ context.Context, write func() error) error {
			_ = write() // the second write is a conflict
			return callwright.ErrInternal
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var chats *shaky
				o := newOffice(t, func(c *pathway.Config) {
					chats = &shaky{Chats: c.Chats}
					c.Chats = chats
				})
				chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
				back := time.Now()
				o.requests.Answer = func(context.Context, request.Request) (request.Response, error) {
					back = time.Now().Add(7 * time.Second)
					chats.fails = func(ctx context.Context, write func() error) error {
						if time.Now().Before(back) {
							return fails(ctx, write)
						}
						return write()
					}
					return request.Response{Status: 200, Body: []byte("{}")}, nil
				}
				if got := o.say(t, chat, "Go."); !slices.Equal(got.Replies, []string{"It is done."}) {
					t.Errorf("got %q", got.Replies)
				}
				if got := o.say(t, chat, "Thank you."); got.State.Turn != 3 || len(o.requests.Made()) != 1 {
					t.Errorf("%d turns, %d requests", got.State.Turn, len(o.requests.Made()))
				}
				if got := o.view(t, chat.ID, 0, 0); len(got.Turns) != 3 || got.Turns[1].Said != "It is done." {
					t.Errorf("the logs are %+v", got.Turns)
				}
				chats.fails = nil
			})
		})
	}
}

// TestDatabaseStaysAway checks that a chat continues from the state before a turn that could not be stored, after the claim has expired.
func TestDatabaseStaysAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var chats *shaky
		o := newOffice(t, func(c *pathway.Config) {
			chats = &shaky{Chats: c.Chats}
			c.Chats = chats
		})
		p := o.create(t, hooked())
		chat := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
		o.requests.Answer = func(context.Context, request.Request) (request.Response, error) {
			chats.fails = func(context.Context, func() error) error { return callwright.ErrInternal }
			return request.Response{Status: 200, Body: []byte("{}")}, nil
		}
		began := time.Now()
		_, err := o.Say(t.Context(), "a", chat.ID, "Go.")
		wantCode(t, "a turn", err, callwright.CodeInternal, "")
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("it took %s", took)
		}
		_, err = o.StartChat(t.Context(), "a", pathway.ChatRequest{Pathway: p.ID})
		wantCode(t, "another chat", err, callwright.CodeInternal, "")
		chats.fails, o.requests.Answer = nil, nil
		_, err = o.Say(t.Context(), "a", chat.ID, "Go.")
		wantCode(t, "too early", err, callwright.CodeConflict, "")
		o.clock.move(90 * time.Second)
		if got := o.say(t, chat, "Go."); got.State.Turn != 2 {
			t.Errorf("got %+v", got.State)
		}
	})
}

// TestTakenOverMeanwhile checks that Say returns CodeConflict if another node, with a wrong clock, has claimed the chat before the turn is
// stored.
func TestTakenOverMeanwhile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	chat := o.chat(t, pathway.ChatRequest{Pathway: o.create(t, hooked()).ID}).Chat
	o.requests.Answer = func(ctx context.Context, _ request.Request) (request.Response, error) {
		other, err := o.chats.Chat(ctx, "a", chat.ID)
		if err == nil {
			err = o.chats.UpdateChat(ctx, other)
		}
		return request.Response{Status: 200, Body: []byte("{}")}, err
	}
	_, err := o.Say(t.Context(), "a", chat.ID, "Go.")
	wantCode(t, "whoever was slower", err, callwright.CodeConflict, "")
}

// TestStop checks turns that run while their node stops: a turn that ends in time is completed, and another turn is canceled and can
// continue on another node immediately.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slow = 30 * time.Second
		model := &agentstest.Model{Says: func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			if len(r.Messages) == 0 {
				return agentstest.Texts("Hello."), nil
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(slow):
				return agentstest.Texts("There you are."), nil
			}
		}}
		talk := document(`{"id":"talk","type":"Default","data":{"isStart":true,"prompt":"Talk."}}`)
		for _, test := range []struct {
			grace time.Duration
			code  callwright.Code
			heard string
		}{{slow + time.Second, "", "Hello?"}, {slow - time.Second, callwright.CodeUnavailable, "Hello? Are you there?"}} {
			o := newOffice(t, func(c *pathway.Config) { c.Interpreter.Model = model })
			p := o.create(t, talk)
			chat := o.chat(t, pathway.ChatRequest{Pathway: p.ID}).Chat
			other := newOffice(t, func(c *pathway.Config) {
				c.Store, c.Chats, c.Interpreter.Model = o.store, o.chats, model
			})
			var turn sync.WaitGroup
			turn.Go(func() {
				_, err := o.Say(t.Context(), "a", chat.ID, "Hello?")
				wantCode(t, "the turn", err, test.code, "")
			})
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), test.grace)
			var stopping sync.WaitGroup
			stopping.Go(func() { _ = o.Close(ctx) })
			synctest.Wait()
			_, err := o.StartChat(t.Context(), "a", pathway.ChatRequest{Pathway: p.ID})
			wantCode(t, "a chat that begins too late", err, callwright.CodeUnavailable, "")
			stopping.Wait()
			cancel()
			_, err = o.Say(t.Context(), "a", chat.ID, "Hello?")
			wantCode(t, "a turn that comes too late", err, callwright.CodeUnavailable, "")
			got := other.say(t, chat, "Are you there?")
			if heard := got.State.Talk.Messages; heard[1].Text != test.heard || !slices.Equal(got.Replies, []string{"There you are."}) {
				t.Errorf("heard %+v, and said %q", heard, got.Replies)
			}
			turn.Wait()
		}
	})
}

func TestStopIdle(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for range 2 {
		if err := o.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
