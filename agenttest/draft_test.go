package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/templates"
)

// calls implements agenttest.Transcripts with transcripts by call id.
type calls map[string]agenttest.Transcript

func (c calls) Transcript(_ context.Context, of callwright.OrgID, id string) (agenttest.Transcript, error) {
	t, ok := c[id]
	if !ok || of != org {
		return agenttest.Transcript{}, callwright.NotFound("call")
	}
	t.Lines = slices.Clone(t.Lines)
	return t, nil
}

func said(by llm.Role, text string) scenario.Message { return scenario.Message{Role: by, Text: text} }

// recorded returns the calls that the tests draft from.
func recorded() calls {
	return calls{
		"paid": {
			Pathway: "p1", Visits: []string{"start", "paid"}, Variables: []string{"amount"},
			RequestData: map[string]any{"account": "4155550123", "clinic": "North"},
			Lines: []scenario.Message{
				said(llm.RoleAgent, "Hello."), said(llm.RoleCaller, "I want to pay. Call four one five, five six five, oh one two three."),
				said(llm.RoleAgent, "Paid. Goodbye."),
			},
		},
		"persona": {Persona: "who", Lines: []scenario.Message{said(llm.RoleCaller, "Hello.")}},
		"silent":  {Lines: []scenario.Message{said(llm.RoleAgent, "Hello.")}},
	}
}

// drafting returns a lab with recorded calls, whose service drafts with writer. A nil writer means drafts without a model.
func drafting(t *testing.T, writer llm.Model) *lab {
	t.Helper()
	l := newLab(t)
	l.cfg.Transcripts, l.cfg.Writer = recorded(), writer
	l.Service = l.another()
	return l
}

// TestDraftFromTranscript checks drafts by a model that cannot write: the caller repeats its lines, and the draft, without its assertion
// about a variable, passes against the pathway or the persona that led the call.
func TestDraftFromTranscript(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := drafting(t, &agentstest.Model{}) // a model that cannot write
		sc, err := l.DraftScenario(t.Context(), org, agenttest.DraftRequest{Call: "paid", Pathway: "p1"})
		if err != nil {
			t.Fatal(err)
		}
		if sc.ID != "" || sc.Kind != scenario.Historical || string(sc.Metadata) != `{"generated_by":"transcript"}` || sc.MaxTurns != 1 ||
			sc.Messages[1].Text != "I want to pay. Call [number]." || sc.RequestData["account"] != "[number]" || sc.RequestData["clinic"] != "North" {
			t.Errorf("got %+v", sc)
		}
		var types []assert.Type
		for _, a := range sc.Assertions {
			types = append(types, a.Type)
		}
		if want := []assert.Type{assert.RegexMatch, assert.NodeReached, assert.TraversalMatch, assert.VariableExtracted}; !slices.Equal(types, want) {
			t.Errorf("it expects %v, want %v", types, want)
		}
		if list, _ := l.ListScenarios(t.Context(), org, agenttest.ScenarioFilter{}, 0); len(list.Items) != 0 {
			t.Error("a draft was kept")
		}
		sc.Assertions = sc.Assertions[:3] // the agent of this test collects no values
		made, err := l.CreateScenario(t.Context(), org, sc)
		if err != nil {
			t.Fatal(err)
		}
		l.run(l.Service)
		r := l.start(made, run.Request{})
		settled()
		if got := l.get(r.ID); got.State != run.Passed {
			t.Errorf("the draft's run has ended with %s, %+v", got.State, got.Result)
		}
	})
}

const wrote = `{"name":"Pays a bill","description":"The caller pays, mail robin@example.com.","caller":"You call because you want to pay a bill. ` +
	`You are brief, and hang up when it is done.","criteria":["The agent confirms what was paid before it says goodbye."]}`

// TestDraftByModel checks that a model writes the draft from redacted text, and that words of the transcript do not reach the model's
// system prompt.
func TestDraftByModel(t *testing.T) {
	t.Parallel()
	answers := []string{`not JSON`, wrote + wrote, wrote}
	model := &agentstest.Model{Called: "m"}
	model.Answers = func(_ context.Context, q llm.Question) (string, error) {
		system, user := q.Prompt("nonce")
		if strings.Contains(system+user, "four one five") || strings.Contains(system, "I want to pay") || !strings.Contains(user, "I want to pay") {
			t.Errorf("the model reads %s\n%s", system, user)
		}
		answer := answers[0]
		answers = answers[1:]
		return answer, nil
	}
	l := drafting(t, model)
	sc, err := l.DraftScenario(t.Context(), org, agenttest.DraftRequest{Call: "paid", Pathway: "p1"})
	if err != nil {
		t.Fatal(err)
	}
	if sc.Kind != scenario.Agent || sc.Name != "Pays a bill" || !strings.Contains(sc.Description, "[email]") || len(sc.Messages) != 0 ||
		string(sc.Metadata) != `{"generated_by":"m"}` || len(sc.Assertions) != 5 || sc.Assertions[4].Type != assert.LLMJudge {
		t.Errorf("got %+v", sc)
	}
	if _, err := l.CreateScenario(t.Context(), org, sc); err != nil {
		t.Error(err)
	}
}

// TestDraftRefuses checks the errors of drafts that cannot be made.
func TestDraftRefuses(t *testing.T) {
	t.Parallel()
	fails := func(class llm.Class) *agentstest.Model {
		return &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) {
			return "", &llm.Failure{Class: class, Message: "no", RetryAfter: time.Hour}
		}}
	}
	for name, test := range map[string]struct {
		model *agentstest.Model
		r     agenttest.DraftRequest
		code  callwright.Code
		field string
	}{
		"an absent call":        {nil, agenttest.DraftRequest{Call: "absent", Pathway: "p1"}, callwright.CodeNotFound, "call_id"},
		"nothing to test":       {nil, agenttest.DraftRequest{Call: "silent"}, callwright.CodeBadRequest, "pathway_id"},
		"two things to test":    {nil, agenttest.DraftRequest{Call: "paid", Pathway: "p1", Persona: "p"}, callwright.CodeBadRequest, "pathway_id"},
		"a silent caller":       {nil, agenttest.DraftRequest{Call: "silent", Pathway: "p1"}, callwright.CodeInvalidState, ""},
		"a busy model":          {fails(llm.ClassRateLimited), agenttest.DraftRequest{Call: "paid", Pathway: "p1"}, callwright.CodeTooManyRequests, ""},
		"a model without quota": {fails(llm.ClassQuota), agenttest.DraftRequest{Call: "paid", Pathway: "p1"}, callwright.CodeUnavailable, ""},
		"a model that is down":  {fails(llm.ClassTransient), agenttest.DraftRequest{Call: "paid", Pathway: "p1"}, callwright.CodeUnavailable, ""},
	} {
		var model llm.Model
		if test.model != nil {
			model = test.model
		}
		_, err := drafting(t, model).DraftScenario(t.Context(), org, test.r)
		if e, _ := errors.AsType[*callwright.Error](err); e == nil || e.Code != test.code || e.Field != test.field {
			t.Errorf("%s: %v, want %s about %q", name, err, test.code, test.field)
		}
	}
	for id, want := range map[string]agenttest.DraftRequest{"paid": {Pathway: "p1"}, "persona": {Persona: "who"}} { // the pathway or persona that led the call
		if sc, err := drafting(t, nil).DraftScenario(t.Context(), org, agenttest.DraftRequest{Call: id}); id == "paid" &&
			(err != nil || sc.Pathway != want.Pathway) || id == "persona" && !strings.Contains(fmt.Sprint(err), "persona") {
			t.Errorf("%s: %+v, %v", id, sc, err)
		}
	}
	_, err := newLab(t).DraftScenario(t.Context(), org, agenttest.DraftRequest{Call: "paid", Pathway: "p1"})
	if !errors.Is(err, callwright.ErrNotImplemented) {
		t.Errorf("without calls: %v", err)
	}
}

// TestCloneTemplate checks that every template can be cloned, and that the names of repeated clones are numbered.
func TestCloneTemplate(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, template := range templates.All() {
		sc, err := l.CloneTemplate(t.Context(), org, template.ID, agenttest.Clone{Pathway: "p1"})
		if err != nil || sc.Name != template.Name || sc.Category != template.Category || sc.ID == "" {
			t.Errorf("%s: %+v, %v", template.ID, sc, err)
		}
	}
	named := func(name string) scenario.Patch {
		return scenario.Patch{Name: callwright.Given(name), MaxTurns: callwright.Given(3)}
	}
	sc, err := l.CloneTemplate(t.Context(), org, "tmpl_custom", agenttest.Clone{Pathway: "p1"})
	if err != nil || sc.Name != "Plain question (2)" {
		t.Errorf("again: %q, %v", sc.Name, err)
	}
	if sc, err = l.CloneTemplate(t.Context(), org, "tmpl_custom", agenttest.Clone{Pathway: "p1", Change: named("Mine")}); err != nil || sc.Name != "Mine" || sc.MaxTurns != 3 {
		t.Errorf("with changes: %+v, %v", sc, err)
	}
	if _, err = l.CloneTemplate(t.Context(), org, "tmpl_custom", agenttest.Clone{Pathway: "p1", Change: named("Mine")}); !errors.Is(err, agenttest.ErrNameTaken) {
		t.Errorf("with a name that is taken: %v", err)
	}
	if _, err = l.CloneTemplate(t.Context(), org, "absent", agenttest.Clone{Pathway: "p1"}); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("of nothing: %v", err)
	}
}
