package agenttest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// documents contains version 1 of the pathway "p1", unless *archived is true.
type documents struct{ archived *bool }

func (d documents) Version(_ context.Context, of callwright.OrgID, id string, number int) (pathway.Version, pathway.Pathway, error) {
	if of != org || id != "p1" || number != 1 || *d.archived {
		return pathway.Version{}, pathway.Pathway{}, callwright.NotFound("pathway version")
	}
	return pathway.Version{Document: graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"start","type":"Default","data":{"name":"Start","prompt":"Ask for the day. password: hunter22"}}`),
			json.RawMessage(`{"id":"hook","type":"Webhook","data":{"name":"Hook","url":"https://secret.example/?key=abc","headers":{"X-Key":"topsecret"},
				"body":"{}","tools":[{"name":"t","url":"https://tool.example/"}]}}`),
			json.RawMessage(`{"globalConfig":{"globalPrompt":"Be kind."}}`),
		},
		Edges: []json.RawMessage{json.RawMessage(`{"id":"e","source":"start","target":"hook","data":{"label":"a day is known"}}`)},
	}}, pathway.Pathway{}, nil
}

// TestAnalyzeRun checks that the model receives the document of the tested version without possible secrets.
func TestAnalyzeRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		archived := false
		l.cfg.Documents, l.cfg.Analyst, l.cfg.Personas = documents{&archived}, l.model, personas{}
		l.Service = l.another()
		l.run(l.Service)
		lost := l.start(l.scenario(failing), run.Request{})
		spoken := l.start(l.scenario(failing, ofPersona("desk")), run.Request{})
		passed := l.start(l.scenario(), run.Request{})
		broken := l.start(l.scenario(func(sc *scenario.Scenario) { sc.Messages, sc.CallerPrompt = nil, "You want to pay." }), run.Request{})
		settled()
		l.model.Answers = func(context.Context, llm.Question) (string, error) {
			return `{"cause":"It is the agent's fault.","fault":"agent","node":null,"suggestions":[]}`, nil
		}
		read := func(id string) string {
			t.Helper()
			before := len(l.model.Questions())
			a, err := l.AnalyzeRun(t.Context(), org, id)
			if err != nil || a.By != "fake" {
				t.Fatalf("got %+v, %v", a, err)
			}
			return string(l.model.Questions()[before].Evidence)
		}
		got := read(lost.ID)
		for _, want := range []string{"Ask for the day.", "a day is known", `"hook"`, "Hook"} {
			if !strings.Contains(got, want) {
				t.Errorf("the model does not read %q in %s", want, got)
			}
		}
		for _, secret := range []string{"hunter22", "secret.example", "topsecret", "tool.example"} {
			if strings.Contains(got, secret) {
				t.Errorf("the model reads %q in %s", secret, got)
			}
		}
		if got := read(spoken.ID); !strings.Contains(got, "Book tables.") {
			t.Errorf("of a persona the model reads %s", got)
		}
		archived = true
		if got := read(lost.ID); strings.Contains(got, "Ask for the day.") {
			t.Errorf("of an archived version the model reads %s", got)
		}
		if a, err := l.AnalyzeRun(t.Context(), org, broken.ID); err != nil || a.Fault != analysis.OfNobody || a.By != analysis.ByRules {
			t.Errorf("a run in error: %+v, %v", a, err)
		}
		if _, err := l.AnalyzeRun(t.Context(), org, passed.ID); callwright.CodeOf(err) != callwright.CodeInvalidState {
			t.Errorf("a run that has passed: %v", err)
		}
		if _, err := l.AnalyzeRun(t.Context(), "other", lost.ID); callwright.CodeOf(err) != callwright.CodeNotFound {
			t.Errorf("another's run: %v", err)
		}
	})
}
