package call_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
)

// greeter is a program's own brain. It greets by name, and ends the conversation when the caller has said something.
type greeter struct{ name string }

func (g greeter) Respond(_ context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		if t.Kind == conversation.TurnStart {
			yield(conversation.Say{Text: "good day " + g.name}, nil)
			return
		}
		if yield(conversation.Say{Text: "thanks"}, nil) {
			yield(conversation.End{Reason: "the greeter is done"}, nil)
		}
	}
}

// observer records observations. If slow is set, each observation lasts that long.
type observer struct {
	mu       sync.Mutex
	observed []call.Observation
	slow     time.Duration
}

func (o *observer) observe(what call.Observation) {
	<-time.After(o.slow)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.observed = append(o.observed, what)
}

// texts describes the observations of a call as texts, in order.
func (o *observer) texts(id string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, what := range o.observed {
		if what.Call.ID == id {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s%s", what.What, what.Line.Text, what.To)))
		}
	}
	return out
}

// TestOwnBrain checks that Config.NewBrain can choose the brain of a call or leave the call to its agent, and that its error fails the
// call.
func TestOwnBrain(t *testing.T) {
	t.Parallel()
	o := &observer{}
	inHouseWith(t, func(t *testing.T, h *house) {
		own := h.order(call.Request{RequestData: map[string]any{"name": "ada"}})
		phone := h.answered()
		h.hears(phone, "good day ada")
		h.says(phone, "hello")
		got, _ := h.ended(own.ID)
		if got.Ending.Reason != "the greeter is done" || got.Status != call.StatusCompleted {
			t.Errorf("ended %+v as %s", got.Ending, got.Status)
		}
		left := h.create(agents.Agent{FirstSentence: "hello"})
		phone = h.answered()
		h.hears(phone, "hello")
		h.says(phone, "bye")
		if got, _ := h.ended(left.ID); got.Status != call.StatusCompleted || got.ModelCalls != (call.ModelCalls{All: 1}) {
			t.Errorf("the agent's own ended as %s after %+v", got.Status, got.ModelCalls)
		}
		broken := h.order(call.Request{RequestData: map[string]any{"name": ""}})
		if got, _ := h.ended(broken.ID); got.Ending.Cause != call.CauseInternal || got.Status != call.StatusFailed {
			t.Errorf("without a brain it ended %+v", got.Ending)
		}
	}, func(c *call.Config) {
		c.Observe = o.observe
		c.NewBrain = func(_ context.Context, c call.Call) (conversation.Brain, error) {
			switch name, given := c.Variables["name"].(string); {
			case !given:
				return nil, nil //nolint:nilnil // it leaves the call to its agent
			case name == "":
				return nil, errors.New("nobody is named so")
			default:
				return greeter{name}, nil
			}
		}
	})
}

// mute is a program's own brain that fails in every turn.
type mute struct{}

func (mute) Respond(context.Context, conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) { yield(nil, errors.New("no words")) }
}

// TestApology checks that the apology for a failure is in the language of the agent.
func TestApology(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	inHouseWith(t, func(t *testing.T, h *house) {
		for _, language := range []string{"en-GB", "es-MX", "fr", "de-AT", "it", "pt-BR", "nl"} {
			c := h.create(agents.Agent{Language: language})
			h.answered()
			_, lines := h.ended(c.ID)
			want := dialogue.Lines{}.Filled(language).Apology
			if len(lines) != 1 || lines[0].Text != want {
				t.Errorf("%s: the transcript is %+v, want %q", language, lines, want)
			}
			said[want] = language
		}
	}, func(c *call.Config) {
		c.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return mute{}, nil }
	})
	if len(said) != 7 {
		t.Errorf("%d languages have the apologies %v", 7, said)
	}
}

// TestObserve checks the observations of a node's calls, in order.
func TestObserve(t *testing.T) {
	t.Parallel()
	o := &observer{}
	inHouseWith(t, func(t *testing.T, h *house) {
		placed := h.create(agents.Agent{FirstSentence: "hello", TransferTo: "+15550000007"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "operator")
		h.ended(placed.ID)
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		busy := h.create(agents.Agent{})
		h.ended(busy.ID)
		in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.hears(phone, "welcome")
		h.says(phone, "bye")
		h.ended("in")
		waitFor(time.Second)
		for id, want := range map[string][]string{
			placed.ID: {
				"started", "ringing", "answered", "line hello", "partial", "line operator", "line you said operator.",
				"transfer +15550000007", "line transferred the call to +15550000007", "ended",
			},
			busy.ID: {"started", "ringing", "ended"},
			"in":    {"started", "answered", "line welcome", "partial", "line bye", "line you said bye.", "ended"},
		} {
			if got := o.texts(id); !slices.Equal(got, want) {
				t.Errorf("%s: observed %q, want %q", id, got, want)
			}
		}
		for _, what := range o.observed {
			if ended := what.What == call.ObservedEnded; ended != what.Call.Queue.Ended() || what.Missed != 0 || what.At.IsZero() {
				t.Errorf("%s of %+v, %d missed", what.What, what.Call, what.Missed)
			}
		}
	}, func(c *call.Config) { c.Observe = o.observe })
}

// TestSlowObserver checks that an observer that needs an hour per observation delays neither calls nor the end of Run.
func TestSlowObserver(t *testing.T) {
	t.Parallel()
	o := &observer{slow: time.Hour}
	inHouseWith(t, func(t *testing.T, h *house) {
		for range 2 {
			c := h.create(agents.Agent{FirstSentence: "hello"})
			phone := h.answered()
			h.hears(phone, "hello")
			h.says(phone, "bye")
			if got, _ := h.ended(c.ID); got.Length() > time.Minute || got.Status != call.StatusCompleted {
				t.Errorf("a call of %s ended as %s", got.Length(), got.Status)
			}
		}
		began := time.Now()
		h.stop()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("Run took %s to end", took)
		}
		waitFor(2 * time.Hour) // until the observer returns from the current observation
	}, func(c *call.Config) { c.Observe = o.observe })
}

// TestObserverMisses checks that Missed counts all observations that were lost because the queue was full.
func TestObserverMisses(t *testing.T) {
	t.Parallel()
	o := &observer{slow: time.Minute}
	inHouseWith(t, func(t *testing.T, h *house) {
		const calls = 400 // each call makes three observations
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		for range calls {
			h.create(agents.Agent{})
		}
		waitFor(30 * time.Hour)
		last := h.create(agents.Agent{})
		h.ended(last.ID)
		waitFor(time.Hour)
		missed := 0
		for _, what := range o.observed {
			missed += what.Missed
		}
		if missed == 0 || missed+len(o.observed) != 3*(calls+1) {
			t.Errorf("%d observations and %d missed of %d calls", len(o.observed), missed, calls+1)
		}
	}, func(c *call.Config) { c.Observe = o.observe })
}

// TestNewNamesWhatIsMissing checks that New's error names each missing required field, and that no other field is required.
func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	whole := call.Config{
		Store: agentstore.Calls{Store: store}, Leases: memstore.Leases{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
		Line: agentstest.NewLine(agentstest.PhoneConfig{}), Agents: answering{}, Recognizer: &agentstest.Recognizer{},
		Synthesizer: &agentstest.Synthesizer{}, Model: model{},
	}
	for name, remove := range map[string]func(*call.Config){
		"Store is required": func(c *call.Config) { c.Store = nil }, "Atomic is required": func(c *call.Config) { c.Atomic = nil },
		"Leases is required": func(c *call.Config) { c.Leases = nil },
		"Work is required":   func(c *call.Config) { c.Work = nil }, "Line is required": func(c *call.Config) { c.Line = nil },
		"Agents is required without Config.NewBrain": func(c *call.Config) { c.Agents = nil }, "Recognizer is required": func(c *call.Config) { c.Recognizer = nil },
		"Synthesizer is required without Config.Voices": func(c *call.Config) { c.Synthesizer = nil }, "Model is required without Config.NewBrain": func(c *call.Config) { c.Model = nil },
	} {
		c := whole
		remove(&c)
		if _, err := call.New(c); err == nil || err.Error() != "call: Config."+name {
			t.Errorf("without %s: %v", name, err)
		}
	}
	whole.Model, whole.Agents = nil, nil
	whole.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return greeter{}, nil }
	s, err := call.New(whole)
	if err != nil {
		t.Fatalf("with a brain of its own: %v", err)
	}
	if _, err := s.Create(t.Context(), "a", call.Request{To: "+15550000002"}); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("without agents a call gave %v", err)
	}
}

// TestWithoutTheOptional checks a server that has only the required ports: an incoming call completes without a recording, and Create
// returns CodeUnavailable.
func TestWithoutTheOptional(t *testing.T) {
	t.Parallel()
	inHouseWith(t, func(t *testing.T, h *house) {
		in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.hears(phone, "good day you")
		h.says(phone, "hello")
		if got, _ := h.ended("in"); got.Status != call.StatusCompleted || got.Recorded {
			t.Errorf("ended as %s, recorded: %v", got.Status, got.Recorded)
		}
		if _, err := h.Recording(t.Context(), "a", "in"); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("its recording gave %v", err)
		}
		for field, a := range map[string]agents.Agent{
			"": {}, "record": {Record: true}, "webhook": {Webhook: "https://example.com/"},
		} {
			a.Task = "Talk."
			_, err := h.Create(t.Context(), "a", call.Request{To: "+15550000002", Agent: a})
			if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeUnavailable || e.Field != field {
				t.Errorf("without what %q needs a call gave %v", field, err)
			}
		}
	}, func(c *call.Config) {
		c.Model, c.Routes, c.Recordings, c.Notifier, c.Ready, c.Node = nil, nil, nil, nil, nil, ""
		c.NewBrain = func(context.Context, call.Call) (conversation.Brain, error) { return greeter{"you"}, nil }
	})
}
