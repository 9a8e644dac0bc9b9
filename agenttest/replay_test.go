package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// clinic is a lab that tests a real pathway without a model.
type clinic struct {
	*lab

	pathways *pathway.Service
	sent     *agentstest.Requests
	pathway  string // 2 versions, the second in production: node "day" asks for a day, "book" books it with another system, and "bye" ends
}

func newClinic(t *testing.T) *clinic {
	t.Helper()
	c := &clinic{lab: newLab(t), sent: &agentstest.Requests{}}
	store := memstore.New()
	var err error
	c.pathways, err = pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
		Interpreter: &pathway.Interpreter{Model: scripted.New(), Requests: c.sent},
	})
	if err != nil {
		t.Fatal(err)
	}
	walk, err := runner.New(runner.Config{Versions: c.pathways})
	if err != nil {
		t.Fatal(err)
	}
	held, err := engine.New(engine.Config{Runner: walk, Model: scripted.New()})
	if err != nil {
		t.Fatal(err)
	}
	c.cfg.Pathways, c.cfg.Engine, c.cfg.Chats = c.pathways, held, c.pathways
	c.Service = c.another()
	p, err := c.pathways.Create(t.Context(), org, pathway.Draft{Name: "Clinic"})
	if err == nil {
		_, err = c.pathways.StoreVersion(t.Context(), org, p.ID, "1", daysGraph())
	}
	if err == nil {
		_, err = c.pathways.StoreVersion(t.Context(), org, p.ID, "2", daysGraph())
	}
	if err == nil {
		_, err = c.pathways.Publish(t.Context(), org, p.ID, pathway.Publication{Number: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.pathway = p.ID
	return c
}

func daysGraph() (d graph.Document) {
	for _, n := range []string{
		`{"id":"hello","type":"Default","data":{"isStart":true,"text":"Hello from nowhere."}}`,
		`{"id":"day","type":"Default","data":{"text":"{{clinic}}: Tuesday or Thursday?","extractVars":[["day","string","the weekday, \"Tuesday\" or \"Thursday\""]]}}`,
		`{"id":"book","type":"Webhook","data":{"url":"https://x.example/","method":"POST","body":"{}","responseData":[{"name":"hour","data":"$.hour"}]}}`,
		`{"id":"bye","type":"End Call","data":{"text":"{{day}} at {{hour}}. Goodbye."}}`,
	} {
		d.Nodes = append(d.Nodes, json.RawMessage(n))
	}
	for _, e := range []string{
		`{"id":"e0","source":"hello","target":"day","data":{"alwaysPick":true}}`, `{"id":"e1","source":"day","target":"book","label":"day is known"}`,
		`{"id":"e2","source":"book","target":"bye","data":{"alwaysPick":true}}`,
	} {
		d.Edges = append(d.Edges, json.RawMessage(e))
	}
	return d
}

// held executes a run of a scenario in which the clinic's caller says these lines, and returns the ended run.
func (c *clinic) held(lines ...string) run.Run {
	c.t.Helper()
	sc := c.scenario(func(sc *scenario.Scenario) {
		sc.Pathway, sc.StartNode, sc.RequestData, sc.Messages = c.pathway, "day", map[string]any{"clinic": "North"}, nil
		for _, l := range lines {
			sc.Messages = append(sc.Messages, scenario.Message{Role: llm.RoleCaller, Text: l})
		}
		sc.Webhooks = []scenario.WebhookMock{{Body: json.RawMessage(`{"hour":"nine"}`)}}
		sc.Assertions = []assert.Assertion{{Type: assert.NodeReached, Config: json.RawMessage(`{"node_id":"day"}`), Required: true, Weight: 1}}
	})
	one := 1
	run := c.start(sc, run.Request{Version: &one, Override: map[string]any{"clinic": "South"}})
	stop := c.run(c.Service)
	settled()
	stop()
	return c.get(run.ID)
}

// TestAnalyticsCountReplaysByRules checks that, without a model, analytics count a recorded conversation only if the pathway decides by
// rules alone. Analytics exclude conversations that need a model for a choice, words, a judgment or the caller.
func TestAnalyticsCountReplaysByRules(t *testing.T) {
	t.Parallel()
	recorded := []scenario.Message{{Role: llm.RoleCaller, Text: "Tuesday, please."}}
	for name, tt := range map[string]struct {
		change func(*scenario.Scenario)
		counts bool
	}{
		"a replay":           {func(*scenario.Scenario) {}, true},
		"a real call":        {func(s *scenario.Scenario) { s.Kind = scenario.Historical }, true},
		"a caller by script": {func(s *scenario.Scenario) { s.Kind = scenario.Agent }, false},
		"an opaque choice":   {func(s *scenario.Scenario) { s.StartNode = "opaque" }, false},
		"a prompt":           {func(s *scenario.Scenario) { s.StartNode = "prompt" }, false},
		"a judge": {func(s *scenario.Scenario) {
			s.Assertions = []assert.Assertion{{Type: assert.LLMJudge, Config: json.RawMessage(`{"prompt":"Be kind."}`), Required: true, Weight: 1}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newClinic(t)
				d := daysGraph()
				d.Nodes = append(d.Nodes,
					json.RawMessage(`{"id":"opaque","type":"Default","data":{"text":"Well?"}}`), json.RawMessage(`{"id":"prompt","type":"Default","data":{"prompt":"Greet them."}}`))
				d.Edges = append(d.Edges, json.RawMessage(`{"id":"o","source":"hello","target":"opaque","label":"never"}`), json.RawMessage(`{"id":"p","source":"hello","target":"prompt","label":"never"}`))
				d.Edges = append(d.Edges, json.RawMessage(`{"id":"e3","source":"opaque","target":"bye","label":"the caller is in a hurry"}`),
					json.RawMessage(`{"id":"e4","source":"prompt","target":"bye","data":{"alwaysPick":true}}`))
				if _, err := c.pathways.StoreVersion(t.Context(), org, c.pathway, "3", d); err != nil {
					t.Fatal(err)
				}
				sc := c.scenario(func(s *scenario.Scenario) {
					s.Pathway, s.Kind, s.StartNode, s.RequestData, s.Messages = c.pathway, scenario.Replay, "day", map[string]any{"clinic": "North"}, recorded
					s.Webhooks = []scenario.WebhookMock{{Body: json.RawMessage(`{"hour":"nine"}`)}}
					s.Assertions = nil
					tt.change(s)
				})
				three := 3
				run := c.start(sc, run.Request{Version: &three})
				c.run(c.Service)
				settled()
				got, err := c.BasicAnalytics(t.Context(), org, agenttest.AnalyticsQuery{Pathway: c.pathway})
				if err != nil || got.About.Total+got.LeftOut != 1 || (got.About.Total == 1) != tt.counts {
					t.Errorf("%d runs count, %d are left out, %v: %+v", got.About.Total, got.LeftOut, err, c.get(run.ID).Outcome)
				}
				if tt.counts && got.About.Passed != 1 {
					t.Errorf("got %+v", got.About)
				}
			})
		})
	}
}

// TestReplay checks that a chat repeats a run and can then be continued by hand, and that only turns by hand send requests.
func TestReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClinic(t)
		r := c.held("Hm.", "What?")
		got, err := c.ReplayRun(t.Context(), org, r.ID)
		if err != nil || got.Nodes != nil || got.Words != nil || got.Said != 2 || got.Lines != 2 || got.Chat.Completed || got.Chat.Number != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		turn, err := c.pathways.Say(t.Context(), org, got.Chat.ID, "Tuesday.")
		if err != nil || !turn.Chat.Completed || turn.State.Variables["clinic"] != "South" || len(c.sent.Made()) != 1 {
			t.Errorf("it goes on to %+v, %v; %d requests were sent", turn, err, len(c.sent.Made()))
		}
		again, err := c.ReplayRun(t.Context(), org, r.ID)
		if err != nil || again.Chat.ID == got.Chat.ID {
			t.Errorf("the second time it is %+v, %v", again, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newClinic(t)
		r := c.held("Thursday.")
		got, err := c.ReplayRun(t.Context(), org, r.ID)
		if err != nil || got.Nodes != nil || got.Words != nil || !got.Chat.Completed || len(c.sent.Made()) != 0 {
			t.Errorf("got %+v, %v; %d requests were sent", got, err, len(c.sent.Made()))
		}
		if last := r.Outcome.Evidence.Turns; last[len(last)-1].Text != "Thursday at nine. Goodbye." {
			t.Errorf("the run ended with %+v", last)
		}
	})
}

// replayed is a Chats that returns a prepared chat.
type replayed struct{ chat pathway.ChatReplay }

func (r replayed) ReplayChat(context.Context, callwright.OrgID, pathway.ReplayRequest) (pathway.ChatReplay, error) {
	return r.chat, nil
}

// TestReplayDiverges checks which divergences are found between a run of three turns and various chats.
func TestReplayDiverges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClinic(t)
		r := c.held("Hm.", "Tuesday.")
		turns := func(change func(list []pathway.ReplayedTurn) []pathway.ReplayedTurn) []pathway.ReplayedTurn {
			list := []pathway.ReplayedTurn{
				{Said: "South: Tuesday or Thursday?", Node: "day"}, {Said: "South: Tuesday or Thursday?", Node: "day"},
				{Said: "Tuesday at nine. Goodbye.", Node: "bye"},
			}
			return change(list)
		}
		for name, tt := range map[string]struct {
			change       func([]pathway.ReplayedTurn) []pathway.ReplayedTurn
			over         bool
			nodes, words *agenttest.Divergence
		}{
			"nowhere": {func(l []pathway.ReplayedTurn) []pathway.ReplayedTurn { return l }, true, nil, nil},
			"in words, twice": {func(l []pathway.ReplayedTurn) []pathway.ReplayedTurn {
				l[1].Said, l[2].Said = "Hm?", "Bye."
				return l
			}, true, nil, &agenttest.Divergence{Turn: 2, Expected: "South: Tuesday or Thursday?", Actual: "Hm?"}},
			"in the node": {func(l []pathway.ReplayedTurn) []pathway.ReplayedTurn {
				l[2].Node = "day"
				return l
			}, false, &agenttest.Divergence{Turn: 4, Expected: "bye", Actual: "day"}, nil},
			"by its end": {func(l []pathway.ReplayedTurn) []pathway.ReplayedTurn { return l[:2] }, true,
				&agenttest.Divergence{Turn: 4, Expected: "bye"}, &agenttest.Divergence{Turn: 4, Expected: "Tuesday at nine. Goodbye."}},
			"not, for want of time": {func(l []pathway.ReplayedTurn) []pathway.ReplayedTurn { return l[:2] }, false, nil, nil},
		} {
			c.cfg.Chats = replayed{pathway.ChatReplay{Chat: pathway.Chat{Completed: tt.over}, Turns: turns(tt.change)}}
			got, err := c.another().ReplayRun(t.Context(), org, r.ID)
			if err != nil || !reflect.DeepEqual(got.Nodes, tt.nodes) || !reflect.DeepEqual(got.Words, tt.words) {
				t.Errorf("it differs %s: %+v, %+v, %v", name, got.Nodes, got.Words, err)
			}
		}
	})
}

// TestReplayRefuses checks that the error of an impossible replay has the right code and states the reason.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClinic(t)
		r := c.held("Hm.")
		refused := func(what string, s *agenttest.Service, of callwright.OrgID, id string, code callwright.Code, words string) {
			t.Helper()
			_, err := s.ReplayRun(t.Context(), of, id)
			if callwright.CodeOf(err) != code || !strings.Contains(callwright.MessageOf(err), words) {
				t.Errorf("%s: %v, want %s about %q", what, err, code, words)
			}
		}
		refused("another organization's", c.Service, "other", r.ID, callwright.CodeNotFound, "run")
		refused("an absent run", c.Service, org, "x", callwright.CodeNotFound, "run")
		change := func(id string, change func(*run.Run)) {
			other := r
			other.ID, other.Revision = id, 1
			change(&other)
			if err := c.cfg.Store.InsertRuns(t.Context(), []run.Run{other}); err != nil {
				t.Fatal(err)
			}
		}
		change("waits", func(r *run.Run) { r.State, r.Outcome = run.Pending, nil })
		change("silent", func(r *run.Run) { r.State, r.Outcome = run.Cancelled, nil })
		change("persona", func(r *run.Run) { r.Pathway, r.Persona = "", "p" })
		refused("a run that waits", c.Service, org, "waits", callwright.CodeInvalidState, "has not ended")
		refused("a run without words", c.Service, org, "silent", callwright.CodeInvalidState, "nothing was said")
		refused("a persona's", c.Service, org, "persona", callwright.CodeInvalidState, "persona")
		if err := c.pathways.Discard(t.Context(), org, c.pathway, 1); err != nil {
			t.Fatal(err)
		}
		refused("a deleted version", c.Service, org, r.ID, callwright.CodeInvalidState, "version 1 of the pathway, which the run has tested, was deleted")
		if err := c.pathways.Delete(t.Context(), org, c.pathway); err != nil {
			t.Fatal(err)
		}
		refused("a deleted pathway", c.Service, org, r.ID, callwright.CodeInvalidState, "the pathway that the run has tested was deleted")
		c.cfg.Chats = brokenChats{errors.New("the disk is full")}
		refused("another error", c.another(), org, r.ID, callwright.CodeInternal, "")
		c.cfg.Chats = nil
		refused("no chats", c.another(), org, r.ID, callwright.CodeNotImplemented, "chats")
	})
}

// brokenChats is a Chats whose methods return err.
type brokenChats struct{ err error }

func (f brokenChats) ReplayChat(context.Context, callwright.OrgID, pathway.ReplayRequest) (pathway.ChatReplay, error) {
	return pathway.ChatReplay{}, f.err
}
