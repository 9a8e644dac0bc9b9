package agentstest

import (
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

// RunRoutes tests a call.Routes. number is the only number of org that is attached for outbound calls. The organization other has no such
// number.
func RunRoutes(t *testing.T, r call.Routes, org, other callwright.OrgID, number callwright.PhoneNumber) {
	t.Helper()
	for _, given := range []callwright.PhoneNumber{"", number} {
		if got, err := r.Caller(t.Context(), org, given); err != nil || got != number {
			t.Errorf("from %q calls go out with %q, %v", given, got, err)
		}
	}
	for name, from := range map[string]struct {
		org    callwright.OrgID
		number callwright.PhoneNumber
	}{
		"a number that is not attached": {org, "+19995550000"}, "another's number": {other, number},
		"the only number of none": {other, ""},
	} {
		_, err := r.Caller(t.Context(), from.org, from.number)
		wantField(t, name, err, callwright.CodeBadRequest, "from")
	}
}

// RunAgents tests a call.Agents. org must not have a web agent with the id "absent", and number must not be configured.
func RunAgents(t *testing.T, a call.Agents, org callwright.OrgID, number callwright.PhoneNumber) {
	t.Helper()
	_, err := a.Answering(t.Context(), org, number)
	wantField(t, "a number that nobody has configured", err, callwright.CodeInvalidState, "phone_number")
	got, err := a.Calling(t.Context(), org, agents.Choice{
		Agent: agents.Agent{Task: "Ask."}, Overrides: agents.Patch{Persona: callwright.Given("You are kind.")},
	})
	if err != nil || got.Task != "Ask." || got.Persona != "You are kind." || got.MaxDuration <= 0 {
		t.Errorf("a call is made by %+v, %v", got, err)
	}
	_, err = a.Calling(t.Context(), org, agents.Choice{})
	wantField(t, "an agent that nothing leads", err, callwright.CodeBadRequest, "task")
	_, err = a.Calling(t.Context(), org, agents.Choice{ID: "absent"})
	wantField(t, "a web agent that is absent", err, callwright.CodeNotFound, "agent_id")
	_, err = a.Calling(t.Context(), org, agents.Choice{Agent: agents.Agent{Task: "Ask.", MaxDuration: -time.Second}})
	wantField(t, "an agent that no call could have", err, callwright.CodeBadRequest, "max_duration")
}

// RunPathways tests an agents.Pathways. org has a pathway with the given id, and the pathway has version 1, a draft, and no version in
// staging. The organization other has no pathway.
func RunPathways(t *testing.T, p agents.Pathways, org, other callwright.OrgID, id string) {
	t.Helper()
	for _, number := range []int{0, 1} {
		g, got, err := p.Load(t.Context(), org, id, pathway.Selector{Number: number})
		if err != nil || g == nil || got != number {
			t.Errorf("version %d came as %d, %v", number, got, err)
		}
	}
	for name, test := range map[string]struct {
		org   callwright.OrgID
		id    string
		sel   pathway.Selector
		field string
	}{
		"an absent pathway":       {org, "absent", pathway.Selector{}, "pathway_id"},
		"another's pathway":       {other, id, pathway.Selector{}, "pathway_id"},
		"an absent version":       {org, id, pathway.Selector{Number: 9999}, "pathway_version"},
		"an unused environment":   {org, id, pathway.Selector{Environment: pathway.Staging}, "pathway_version"},
		"a pathway without an id": {org, "", pathway.Selector{}, "pathway_id"},
	} {
		_, _, err := p.Load(t.Context(), test.org, test.id, test.sel)
		wantField(t, name, err, callwright.CodeNotFound, test.field)
	}
}

// wantField checks that err is a *callwright.Error with the given code and field.
func wantField(t *testing.T, what string, err error, code callwright.Code, field string) {
	t.Helper()
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != code || e.Field != field {
		t.Errorf("%s gave %v, want %s about %s", what, err, code, field)
	}
}
