package join_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/triage"
)

// failedRun returns a run that failed two assertions, of a judge and of a rule. Private fields contain "hidden".
func failedRun(id, node string) run.Run {
	return run.Run{
		ID: id, Org: org, Scenario: "s1", Name: "Books in a hurry", Pathway: "p1", Version: 7, State: run.Failed, CreatedAt: began,
		EndedAt: began.Add(time.Minute), Revision: 1, Webhook: "https://hook.example/?token=hidden",
		Outcome: &engine.Outcome{
			Blame: node,
			Results: []assert.Result{
				{Assertion: "a1", Type: assert.LLMJudge, Required: true, Outcome: assert.Failed, Code: assert.CodeMissingStep, Reasoning: "The time is not repeated."},
				{Assertion: "a2", Type: assert.VariableExtracted, Outcome: assert.Failed, Code: assert.CodeNoMatch, Reasoning: `account is "hidden"`},
			},
			Evidence: assert.Evidence{
				End: assert.EndByAgent, Variables: map[string]any{"account": "hidden"},
				Turns:    []assert.Turn{{Role: llm.RoleAgent, Text: "Hello."}, {Role: llm.RoleCaller, Text: "Nine."}},
				Visits:   []assert.Visit{{Node: "begin"}, {Node: node}},
				Webhooks: []assert.Webhook{{URL: "https://crm.example/?key=hidden"}},
			},
		},
		Result: run.Result{Failure: &run.Failure{
			Assertion: "a1", Type: assert.LLMJudge, Code: assert.CodeMissingStep, Node: node, Reason: "The time is not repeated.",
		}},
	}
}

// TestFailedRuns checks that runs that fail alike are attached to one issue, and that another failure opens another issue.
func TestFailedRuns(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	store := agentteststore.Store{Store: memory}
	issues := must(triage.New(triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceRun: join.Runs{Store: store}},
	}))
	t.Cleanup(issues.Close)
	runs := []run.Run{failedRun("r1", "offer"), failedRun("r2", "offer"), failedRun("r3", "end")}
	runs[2].Result.Failure.Type, runs[2].Result.Failure.Reason = assert.StringCheck, `"hidden" was said`
	if err := store.InsertRuns(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	failed := join.FailedRuns{Issues: issues}
	for _, r := range append(runs, runs[0]) { // reports the first run twice
		if err := failed.RunFailed(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	page, err := issues.List(t.Context(), org, triage.Query{Filter: triage.Filter{Sort: triage.SortCreated, Ascending: true}})
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("there are %d issues, %v; want 2", len(page.Items), err)
	}
	for i, want := range []int{2, 1} {
		issue := must(issues.Get(t.Context(), org, page.Items[i].ID))
		if !strings.HasPrefix(issue.Title, "Test fails: Books in a hurry: ") || issue.Resources != want || strings.Contains(issue.Title+issue.Description, "hidden") {
			t.Errorf("issue %d is %q with %d runs: %s", i, issue.Title, issue.Resources, issue.Description)
		}
	}
	attached := must(issues.Resources(t.Context(), org, page.Items[0].ID))
	if attached[0].Type != triage.ResourceRun || attached[0].Status != triage.Available {
		t.Errorf("attached %+v", attached[0])
	}
}

// TestFailedSet checks that a failure mode of a simulation set opens one issue with some of its runs, and that a single run that fails
// alike is attached to the same issue. Repeated reports must change nothing.
func TestFailedSet(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	store := agentteststore.Store{Store: memory}
	issues := must(triage.New(triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceRun: join.Runs{Store: store}},
	}))
	t.Cleanup(issues.Close)
	var runs []run.Run
	for i := range 4 {
		runs = append(runs, failedRun(fmt.Sprint("r", i), "offer"))
	}
	if err := store.InsertRuns(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	failed := join.FailedRuns{Issues: issues}
	mode := group.FailureMode{
		Org: org, Set: "set", Scenario: run.Subject{Scenario: "s1", Name: "Books in a hurry", Version: 7},
		Failure: *runs[0].Result.Failure, Count: 120, Scored: 200, Runs: []string{"r0", "r1", "r2"},
	}
	other := mode
	other.Failure.Node, other.Failure.End, other.Runs = "end", assert.EndMaxTurns, []string{"r2"}
	otherEnd := mode
	otherEnd.Failure.End, otherEnd.Failure.Reason = assert.EndMaxTurns, "In other words."
	for _, m := range []group.FailureMode{mode, mode, otherEnd, other} {
		if err := failed.ModeFailed(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := failed.RunFailed(t.Context(), runs[3]); err != nil {
		t.Fatal(err)
	}
	page, err := issues.List(t.Context(), org, triage.Query{Filter: triage.Filter{Sort: triage.SortCreated, Ascending: true}})
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("there are %d issues, %v; want 2", len(page.Items), err)
	}
	for i, want := range []int{4, 1} {
		issue := must(issues.Get(t.Context(), org, page.Items[i].ID))
		if issue.Resources != want || !strings.Contains(issue.Description, "in 120 of 200 runs") {
			t.Errorf("issue %d has %d runs: %s", i, issue.Resources, issue.Description)
		}
	}
}

// TestEvidenceOfRun checks that the evidence contains the conversation and the outcome, and no field that may contain a secret.
func TestEvidenceOfRun(t *testing.T) {
	t.Parallel()
	store := agentteststore.Store{Store: memstore.New()}
	if err := store.InsertRuns(t.Context(), []run.Run{failedRun("r1", "offer")}); err != nil {
		t.Fatal(err)
	}
	e := must(join.Runs{Store: store}.Read(t.Context(), org, "r1"))
	if len(e.Lines) != 2 || !e.Lines[0].Agent || e.Lines[1].Text != "Nine." {
		t.Errorf("the lines are %v", e.Lines)
	}
	text := fmt.Sprint(e.Facts)
	for _, want := range []string{"Books in a hurry", "FAILED", "The time is not repeated.", "offer", "no_match", "agent_ended"} {
		if !strings.Contains(text, want) {
			t.Errorf("the facts lack %s: %s", want, text)
		}
	}
	if strings.Contains(text, "hidden") {
		t.Errorf("the facts have a secret: %s", text)
	}
	if _, err := (join.Runs{Store: store}).Read(t.Context(), "b", "r1"); err == nil {
		t.Error("another organization reads the run")
	}
}
