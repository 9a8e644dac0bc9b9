package agenttesttest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/callwrighttest"
)

// FullSession returns an ended session of organization a with a value in each field.
func FullSession(id string) tornado.Session {
	return tornado.Session{
		ID: id, Org: "a", Pathway: "p1", Persona: "persona 1",
		Scenarios: []tornado.Scenario{{ID: "s1", Required: true, HeldOut: true}}, Most: 5, Confirm: -1, Patience: 2,
		Limits:  tornado.Limits{Allow: []string{"start", words}, Deny: []string{"pay"}, MaxBytes: 4096, MaxShare: 0.25},
		Budget:  engine.Limit{Tokens: 4_000_000_000, Cost: 5_000_000_000_000},
		Timeout: 15 * time.Minute, Deadline: at.Add(15 * time.Minute),
		Progress: tornado.Progress{
			State: tornado.Stuck, Stop: tornado.StopNoProgress, Detail: words, Phase: tornado.Deciding, Base: 3, Best: 4, BaseMoved: true,
			Iterations: []tornado.Iteration{fullIteration()}, Passed: []string{"s1"}, Failed: []string{"s2"}, Unfixable: []string{"s3"},
		},
		Usage: tornado.Usage{
			Runs: engine.Usage{
				Caller: llm.Usage{Input: 1, Output: 2, Cached: 1}, Agent: llm.Usage{Input: 3, Output: 4, Cached: 2}, Judge: llm.Usage{Input: 5, Output: 6_000_000_000, Cached: 3},
			},
			Analyst: llm.Usage{Input: 7, Output: 8, Cached: 4}, Fixer: llm.Usage{Input: 9, Output: 10, Cached: 5},
			Spend: engine.Spend{Tokens: 6_000_000_049, Cost: 7_000_000_000_000, Priced: 8, Unpriced: 9},
		},
		Node: "node 1", Cancel: true, CreatedAt: at, EndedAt: later(9), Revision: 1,
	}
}

// fullIteration returns an iteration with a value in each field.
func fullIteration() tornado.Iteration {
	differences := []graph.Difference{{
		ID: "menu", Name: words, Kind: graph.DifferenceChanged,
		Members: []graph.MemberDifference{{Path: "data.prompt", Before: `"a"`, After: `"` + words + `"`}},
	}}
	return tornado.Iteration{
		Number: 1, Version: 4,
		Plan: &tornado.Plan{Fixes: []tornado.Fix{{
			ID: "f1", Kind: analysis.PromptChange, Node: "menu", Description: words,
			Edits: []tornado.Edit{{Op: tornado.SetText, Field: "prompt", Text: words, Edge: "e1", To: "pay"}},
		}}},
		Changes: &graph.Changes{Nodes: differences, Edges: differences, Reordered: true},
		Trials:  []string{"tornado/t1/1 run"}, Passed: []string{"s1"}, Failed: []string{"s2"}, Errors: []string{"s4"}, Unfixable: []string{"s3"},
		Outcome: tornado.Rejected, Reason: words, Started: later(1), Completed: later(2),
	}
}

// aSession returns a session of organization a and pathway p1 that no node has claimed yet.
func aSession(id string) tornado.Session {
	return tornado.Session{
		ID: id, Org: "a", Pathway: "p1", Scenarios: []tornado.Scenario{{ID: "s1"}}, Most: 5, Confirm: 2, Patience: 2,
		Timeout: time.Minute, Deadline: at.Add(time.Minute),
		Progress: tornado.Progress{
			State: tornado.Running, Phase: tornado.Baseline, Base: 1, Best: 1, Iterations: []tornado.Iteration{{Started: at}},
		},
		CreatedAt: at, Revision: 1,
	}
}

// onNode returns the session as held by a node.
func onNode(n tornado.Session, node string) tornado.Session {
	n.Node = node
	return n
}

// over returns the session as Stuck, with an end time that is this many seconds after the suite's start time.
func over(n tornado.Session, seconds int) tornado.Session {
	n.State, n.Stop, n.EndedAt = tornado.Stuck, tornado.StopUnfixable, later(seconds)
	return n
}

// aStep returns a journal step with this name. The step's answer contains the name.
func aStep(name string) tornado.Step {
	return tornado.Step{Name: name, At: at, Answer: fmt.Appendf(nil, "{%q:%q}", "of", name)}
}

func (s sessions) append(t *testing.T, id, node string, number int) error {
	t.Helper()
	return s.AppendStep(t.Context(), "a", id, node, number, aStep(fmt.Sprint("step ", number)))
}

// wantSteps checks that a session's journal contains exactly the steps with these numbers, in this order.
func (s sessions) wantSteps(t *testing.T, id string, numbers ...int) {
	t.Helper()
	got, err := s.Steps(t.Context(), "a", id)
	want := make([]tornado.Step, 0, len(numbers))
	for _, number := range numbers {
		want = append(want, aStep(fmt.Sprint("step ", number)))
	}
	wantSame(t, append([]tornado.Step{}, got...), err, want)
}

func keepsSteps(t *testing.T, s sessions) {
	other := onNode(aSession("t2"), "n")
	other.Pathway = "p2"
	s.insert(t, onNode(aSession("t1"), "n"), other)
	s.wantSteps(t, "t1")
	const count = 12 // enough for numbers of one and of two digits
	for number := range count {
		do(t, s.append(t, "t1", "n", number))
	}
	do(t, s.append(t, "t2", "n", 0))
	s.wantSteps(t, "t1", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	s.wantSteps(t, "t2", 0)
	empty := tornado.Step{Name: "n", At: later(1), Answer: []byte("null")}
	callwrighttest.Full(t, empty)
	do(t, s.AppendStep(t.Context(), "a", "t2", "n", 1, empty))
	given := aStep("step 2")
	do(t, s.AppendStep(t.Context(), "a", "t2", "n", 2, given))
	callwrighttest.Spoil(&given)
	for range 2 {
		got, err := s.Steps(t.Context(), "a", "t2")
		wantSame(t, got, err, []tornado.Step{aStep("step 0"), empty, aStep("step 2")})
		callwrighttest.Spoil(&got)
	}
}

func keepsLargeSteps(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession("t1"), "n"))
	sizes := []int{2, 100_000, tornado.MaxStep}
	for number, size := range sizes {
		answer := `"` + strings.Repeat("x'", size/2-1) + `"`
		do(t, s.AppendStep(t.Context(), "a", "t1", "n", number, tornado.Step{Name: "large", At: at, Answer: []byte(answer)}))
	}
	got, err := s.Steps(t.Context(), "a", "t1")
	if err != nil || len(got) != len(sizes) {
		t.Fatalf("got %d steps, %v", len(got), err)
	}
	for i, step := range got {
		if len(step.Answer) != sizes[i] || !bytes.Equal(step.Answer[1:sizes[i]-1], bytes.Repeat([]byte("x'"), sizes[i]/2-1)) {
			t.Errorf("step %d of %d bytes has %d", i, sizes[i], len(step.Answer))
		}
	}
}

func takesStepsOfNodeOnly(t *testing.T, s sessions) {
	free := aSession("t2")
	free.Pathway = "p2"
	s.insert(t, onNode(aSession("t1"), "n"), free, over(onNode(aSession("t3"), "n"), 2))
	do(t, s.append(t, "t1", "n", 0))
	wantErr(t, callwright.ErrConflict, map[string]error{
		"another node": s.append(t, "t1", "m", 1), "no node": s.append(t, "t1", "", 1), "a session that no node holds": s.append(t, "t2", "n", 0),
		"a session that has ended": s.append(t, "t3", "n", 0), "a number that is taken": s.append(t, "t1", "n", 0),
	})
	wantErr(t, callwright.ErrNotFound, map[string]error{"absent": s.append(t, "t4", "n", 0)})
	s.wantSteps(t, "t1", 0)
	s.wantSteps(t, "t2")
	s.wantSteps(t, "t3")
	// Another node claims the session and continues its journal.
	moved := onNode(aSession("t1"), "m")
	do(t, s.UpdateSession(t.Context(), moved), s.append(t, "t1", "m", 1))
	wantErr(t, callwright.ErrConflict, map[string]error{"the node of before": s.append(t, "t1", "n", 2)})
	do(t, s.CancelSession(t.Context(), "a", "t1"), s.append(t, "t1", "m", 2))
	moved.Revision = 2
	do(t, s.UpdateSession(t.Context(), over(moved, 3)))
	wantErr(t, callwright.ErrConflict, map[string]error{"a session that has ended since": s.append(t, "t1", "m", 3)})
	s.wantSteps(t, "t1", 0, 1, 2)
}

func givesNumberOnce(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession("t1"), "n"))
	winner := callwrighttest.Race(t, func(writer int) error {
		return s.AppendStep(t.Context(), "a", "t1", "n", 0, aStep(fmt.Sprint(writer)))
	})
	got, err := s.Steps(t.Context(), "a", "t1")
	wantSame(t, got, err, []tornado.Step{aStep(fmt.Sprint(winner))})
}

func hidesSteps(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession("t1"), "n"))
	do(t, s.append(t, "t1", "n", 0))
	err := s.AppendStep(t.Context(), "b", "t1", "n", 1, aStep("x"))
	wantErr(t, callwright.ErrNotFound, map[string]error{"append": err})
	if got, err := s.Steps(t.Context(), "b", "t1"); err != nil || len(got) != 0 {
		t.Errorf("another organization reads %+v, %v", got, err)
	}
	do(t, s.DeleteSteps(t.Context(), "b", "t1"))
	s.wantSteps(t, "t1", 0)
}

func deletesSteps(t *testing.T, s sessions) {
	other := onNode(aSession("t2"), "n")
	other.Pathway = "p2"
	s.insert(t, onNode(aSession("t1"), "n"), other)
	do(t, s.append(t, "t1", "n", 0), s.append(t, "t1", "n", 1), s.append(t, "t2", "n", 0))
	do(t, s.DeleteSteps(t.Context(), "a", "t1"), s.DeleteSteps(t.Context(), "a", "absent"))
	s.wantSteps(t, "t1")
	s.wantSteps(t, "t2", 0)
	do(t, s.append(t, "t1", "n", 0))
	s.wantSteps(t, "t1", 0)
	s.want(t, onNode(aSession("t1"), "n"))
}

func keepsSessionApart(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession("t1"), "n"))
	do(t, s.append(t, "t1", "n", 0))
	s.want(t, onNode(aSession("t1"), "n")) // with an unchanged Revision
	do(t, s.UpdateSession(t.Context(), over(onNode(aSession("t1"), "n"), 2)))
	s.wantSteps(t, "t1", 0)
}

func deletesOldSessions(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession("t1"), "n"))
	do(t, s.append(t, "t1", "n", 0), s.UpdateSession(t.Context(), over(aSession("t1"), 1)))
	foreign, young := over(aSession("t2"), 2), over(aSession("t3"), 3)
	foreign.Org = "b"
	running := onNode(aSession("t5"), "n")
	s.insert(t, foreign, young, over(aSession("t4"), 2), running)
	do(t, s.append(t, "t5", "n", 0))
	for i, want := range []int{0, 2, 1, 0} {
		if n, err := s.DeleteSessions(t.Context(), later(3), min(i, 1)*2); err != nil || n != want {
			t.Errorf("deletion %d has removed %d, %v; want %d", i, n, err, want)
		}
	}
	s.wantAbsent(t, "t1", "t4")
	s.want(t, young)
	s.want(t, running)
	s.wantSteps(t, "t5", 0)
	if n, err := s.DeleteSessions(t.Context(), later(4), 2); err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
	s.wantAbsent(t, "t3")
	elsewhere := onNode(aSession("t1"), "n")
	elsewhere.Pathway = "p2"
	s.insert(t, elsewhere)
	s.wantSteps(t, "t1")
}

func rollsBackSession(t *testing.T, s sessions) {
	n := onNode(aSession("t1"), "n")
	s.rollBack(t, func(ctx context.Context) error { return s.InsertSession(ctx, n) })
	s.wantAbsent(t, "t1")
	s.insert(t, n)
	do(t, s.append(t, "t1", "n", 0))
	for name, change := range map[string]func(ctx context.Context) error{
		"an end":     func(ctx context.Context) error { return s.UpdateSession(ctx, over(n, 2)) },
		"a cancel":   func(ctx context.Context) error { return s.CancelSession(ctx, "a", "t1") },
		"a step":     func(ctx context.Context) error { return s.AppendStep(ctx, "a", "t1", "n", 1, aStep("x")) },
		"a deletion": func(ctx context.Context) error { return s.DeleteSteps(ctx, "a", "t1") },
		"a deletion of sessions": func(ctx context.Context) error {
			if err := s.UpdateSession(ctx, over(n, 2)); err != nil {
				return err
			}
			deleted, err := s.DeleteSessions(ctx, later(3), 10)
			if err == nil && deleted != 1 {
				err = fmt.Errorf("deleted %d", deleted)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.rollBack(t, change)
			s.want(t, n)
			s.wantSteps(t, "t1", 0)
		})
	}
	if err := s.InsertSession(t.Context(), aSession("t2")); !isActive(err) {
		t.Errorf("a second session gave %v, want ErrActive", err)
	}
	// The update that ends a session and its consequences commit together.
	do(t, s.atomic.Do(t.Context(), func(ctx context.Context) error {
		if err := s.UpdateSession(ctx, over(n, 2)); err != nil {
			return err
		}
		if err := s.DeleteSteps(ctx, "a", "t1"); err != nil {
			return err
		}
		return s.InsertSession(ctx, aSession("t2"))
	}))
	s.wantSteps(t, "t1")
	s.want(t, aSession("t2"))
}

func encryptsSession(t *testing.T, s sessions) {
	n := FullSession(callwrighttest.VisibleID)
	n.State = tornado.Running
	n.Limits.Deny = []string{"hunter2-deny"}
	n.Detail, n.Iterations[0].Reason, n.Iterations[0].Plan.Fixes[0].Edits[0].Text = "hunter2-dtls", "hunter2-why-", "hunter2-said"
	n.Iterations[0].Changes.Nodes[0].Members[0].Before = "hunter2-node"
	s.atRest.Check(t, s.Store, func() error {
		if err := s.InsertSession(t.Context(), n); err != nil {
			return err
		}
		other := n
		other.ID, other.State = "another", tornado.Stuck
		if err := s.InsertSession(t.Context(), other); err != nil {
			return err
		}
		return s.UpdateSession(t.Context(), other)
	}, "hunter2-deny", "hunter2-dtls", "hunter2-why-", "hunter2-said", "hunter2-node")
}

func encryptsSteps(t *testing.T, s sessions) {
	s.insert(t, onNode(aSession(callwrighttest.VisibleID), "n"))
	s.atRest.Check(t, s.Store, func() error {
		step := tornado.Step{Name: "analyze", At: at, Answer: []byte(`{"text":"hunter2-said"}`)}
		return s.AppendStep(t.Context(), "a", callwrighttest.VisibleID, "n", 0, step)
	}, "hunter2-said")
}
