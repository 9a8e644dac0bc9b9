package agentteststore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

const (
	tornadoDefects = 3
	tornadoSound   = 2 // number of nodes without a defect, which come first
)

// shelf is a store of the versions of the pathway "p", in files of a folder. Version 1 is in production.
type shelf struct{ folder string }

// file returns the path of the file that contains a version.
func (s shelf) file(number int) string { return fmt.Sprintf("%s/version-%03d", s.folder, number) }

// put stores a version with a rename, so that a kill never leaves a version with partial contents.
func (s shelf) put(v pathway.Version) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	half := s.file(v.Number) + ".half"
	if err := os.WriteFile(half, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(half, s.file(v.Number))
}

// all reads all versions, in order.
func (s shelf) all() (versions []pathway.Version, err error) {
	for number := 1; ; number++ {
		raw, err := os.ReadFile(s.file(number))
		if os.IsNotExist(err) {
			return versions, nil
		}
		if err != nil {
			return nil, err
		}
		var v pathway.Version
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		versions = append(versions, v)
	}
}

func (s shelf) Version(_ context.Context, _ callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error) {
	p := pathway.Pathway{ID: id, Production: 1}
	if number == 0 {
		return pathway.Version{}, p, nil
	}
	versions, err := s.all()
	if err != nil || number > len(versions) || versions[number-1].Archived {
		return pathway.Version{}, p, callwright.ErrNotFound
	}
	return versions[number-1], p, nil
}

func (s shelf) Versions(
	context.Context, callwright.OrgID, string, callwright.Keyset, int,
) (callwright.Page[pathway.Version], pathway.Pathway, error) {
	versions, err := s.all()
	return callwright.Page[pathway.Version]{Items: versions}, pathway.Pathway{}, err
}

func (s shelf) Fork(
	_ context.Context, _ callwright.OrgID, _ string, parent int, name string, d *graph.Document,
) (pathway.Version, error) {
	g, err := graph.Check(*d)
	if err != nil {
		return pathway.Version{}, err
	}
	versions, err := s.all()
	if err != nil {
		return pathway.Version{}, err
	}
	v := pathway.Version{Number: len(versions) + 1, Name: name, Document: *d, Hash: g.Hash, Parent: parent}
	return v, s.put(v)
}

func (s shelf) Discard(_ context.Context, _ callwright.OrgID, _ string, number int) error {
	versions, err := s.all()
	if err != nil {
		return err
	}
	versions[number-1].Archived = true
	return s.put(versions[number-1])
}

func (s shelf) Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error) {
	number := max(sel.Number, 1)
	v, _, err := s.Version(ctx, org, id, number)
	if err != nil {
		return nil, 0, err
	}
	g, err := graph.Check(v.Document)
	return g, number, err
}

func (shelf) Publish(context.Context, callwright.OrgID, string, pathway.Publication) (pathway.Published, error) {
	return pathway.Published{}, callwright.ErrInvalidState
}

func (shelf) FinishTests(context.Context, callwright.OrgID, string) error { return nil }

// textOf returns the text of a node, or an empty string if the node is absent.
func textOf(d graph.Document, node string) string {
	for _, raw := range d.Nodes {
		var n struct {
			ID   string `json:"id"`
			Data struct {
				Text string `json:"text"`
			} `json:"data"`
		}
		if err := json.Unmarshal(raw, &n); err == nil && n.ID == node {
			return n.Data.Text
		}
	}
	return ""
}

// speaker is an agent that says the text of the node that the scenario tests.
type speaker struct {
	shelf shelf
	diary *diary // if nil, runs write no events
}

func (s speaker) Start(ctx context.Context, spec engine.SessionSpec) (engine.Session, error) {
	v, _, err := s.shelf.Version(ctx, spec.Org, spec.Pathway, spec.Version)
	node, _ := spec.Variables["node"].(string)
	return engine.SessionFunc(func(context.Context, engine.CallerTurn) (engine.AgentTurn, error) {
		s.event()
		pass(time.Second)
		s.event()
		return engine.AgentTurn{Text: textOf(v.Document, node), Visits: []string{node}, Node: node, Ended: true}, nil
	}), err
}

func (s speaker) event() {
	if s.diary != nil {
		s.diary.write("said", "something")
	}
}

// watched is a store that writes each change of a session and each appended step to a diary, before and after the change.
type watched struct {
	tornado.Store

	diary *diary
}

func (w watched) UpdateSession(ctx context.Context, s tornado.Session) error {
	w.diary.write("updating", s.ID)
	err := w.Store.UpdateSession(ctx, s)
	w.diary.write("updated", s.ID)
	return err
}

func (w watched) AppendStep(ctx context.Context, org callwright.OrgID, session, node string, n int, step tornado.Step) error {
	w.diary.write("appending", step.Name)
	err := w.Store.AppendStep(ctx, org, session, node, n, step)
	w.diary.write("appended", step.Name)
	return err
}

// Fix proposes a fix that spoils a sound node. When that fix is rejected, it proposes one that repairs the defective node.
func (d *diary) Fix(_ context.Context, name string, b tornado.Brief) (tornado.Plan, error) {
	d.write("asked", name)
	pass(time.Second)
	d.write("answered", name)
	node := b.Findings[0].Tally.Node
	fix := tornado.Fix{
		ID: "1", Kind: analysis.PromptChange, Node: "n0", Edits: []tornado.Edit{{Op: tornado.SetText, Field: "text", Text: "bad for " + node}},
	}
	for _, r := range b.Rejected {
		if r.Plan.Fixes[0].Edits[0].Text == fix.Edits[0].Text {
			fix.Node, fix.Edits[0].Text = node, "good"
			break
		}
	}
	return tornado.Plan{Fixes: []tornado.Fix{fix}}, nil
}

// crashTornado executes a session until it has ended or the process is killed. The first worker only starts the session.
func crashTornado(ctx context.Context, plan crashPlan, db *bunstore.DB, work *tableWork, d *diary) error {
	versions := shelf{plan.Folder}
	agent := speaker{shelf: versions}
	if plan.AnyTime {
		agent.diary = d
	}
	model := paid{part: "nobody", diary: d}
	held, err := engine.New(engine.Config{
		Runner: agent, Model: model, CallerModel: model, JudgeModel: model,
	})
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	leases, node := bunstore.Leases{DB: db}, fmt.Sprint("node ", plan.Birth)
	tests, err := agenttest.New(agenttest.Config{
		Store: agentteststore.Store{DB: db}, Atomic: db, Work: work, Leases: leases, Node: node, Pathways: versions, Engine: held, Runtime: callwright.Runtime{Logger: logger},
	})
	if err != nil {
		return err
	}
	s, err := tornado.New(tornado.Config{
		Store: watched{agentteststore.Sessions{DB: db}, d}, Atomic: db, Work: work, Leases: leases, Node: node,
		Pathways: versions, Runs: tests, Fixer: d, Runtime: callwright.Runtime{Logger: logger},
	})
	if err != nil {
		return err
	}
	if plan.Birth == 0 {
		return beginTornado(ctx, versions, tests, s)
	}
	go func() { _ = tests.Run(ctx) }()
	go func() { _ = s.Run(ctx) }()
	for {
		more, err := work.step(ctx)
		if err != nil {
			return err
		}
		running, err := s.List(ctx, crashOrg, tornado.Filter{States: []tornado.State{tornado.Running}})
		if err != nil {
			return err
		}
		if !more && len(running.Items) == 0 {
			return nil
		}
		pass(100 * time.Millisecond)
	}
}

// beginTornado stores a pathway with sound and defective nodes and a scenario for each node, and starts a session.
func beginTornado(ctx context.Context, versions shelf, tests *agenttest.Service, s *tornado.Service) error {
	var d graph.Document
	for i := range tornadoSound + tornadoDefects {
		text := "good"
		if i >= tornadoSound {
			text = "bad"
		}
		d.Nodes = append(d.Nodes, json.RawMessage(fmt.Sprintf(
			`{"id":"n%d","type":"Default","data":{"name":"n%d","isStart":%t,"text":%q}}`, i, i, i == 0, text)))
		if i > 0 {
			d.Edges = append(d.Edges, json.RawMessage(fmt.Sprintf(
				`{"id":"e%d","source":"n%d","target":"n%d","data":{"alwaysPick":true}}`, i, i-1, i)))
		}
	}
	if _, err := versions.Fork(ctx, crashOrg, "p", 0, "first", &d); err != nil {
		return err
	}
	for i := range d.Nodes {
		_, err := tests.CreateScenario(ctx, crashOrg, scenario.Scenario{
			Pathway: "p", Name: fmt.Sprint("s", i), Enabled: true, CallerPrompt: "You listen.", RequestData: map[string]any{"node": fmt.Sprint("n", i)},
			Assertions: []assert.Assertion{{
				Type: assert.StringCheck, Config: json.RawMessage(`{"value":"bad","operator":"not_contains","target":"transcript"}`), Required: true, Weight: 1,
			}},
		})
		if err != nil {
			return err
		}
	}
	_, err := s.Start(ctx, crashOrg, tornado.Start{Pathway: "p", Iterations: tornado.MaxIterations, Timeout: tornado.MaxTimeout})
	return err
}

// askedForPlans returns the number of questions to the fixer in a diary. It fails the test if the fixer was asked for a plan that was
// already stored.
func askedForPlans(t *testing.T, folder string) (asked int) {
	t.Helper()
	raw, err := os.ReadFile(folder + "/diary")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		switch kind, name, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "appended":
			kept[name] = true
		case "asked":
			asked++
			if kept[name] {
				t.Errorf("%s is asked for again", name)
			}
		}
	}
	return asked
}
