package agents_test

import (
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
)

// TestCalling checks the agent that Calling returns for a given agent and for a web agent, with and without overrides.
func TestCalling(t *testing.T) {
	t.Parallel()
	s := newService(t)
	warmth := 0.5
	web := create(t, s, agents.Agent{Task: "Help.", Voice: "rms", Language: "ENG", Temperature: &warmth}).ID
	own := agents.Agent{Task: "Ask."}
	production := agents.PathwayRef{ID: "p1", Version: pathway.Selector{Environment: pathway.Production}}
	for name, test := range map[string]struct {
		choice agents.Choice
		good   func(a agents.Agent) bool
	}{
		"its own": {agents.Choice{Agent: own}, func(a agents.Agent) bool {
			return a.Task == "Ask." && a.MaxDuration == agents.DefaultMaxDuration
		}},
		"a web agent": {agents.Choice{ID: web}, func(a agents.Agent) bool {
			return a.Task == "Help." && a.Voice == "rms" && a.Language == "en" && *a.Temperature == warmth
		}},
		"another task": {
			agents.Choice{ID: web, Overrides: agents.Patch{Task: callwright.Given("Ask."), MaxDuration: callwright.Given(time.Minute)}},
			func(a agents.Agent) bool { return a.Task == "Ask." && a.Voice == "rms" && a.MaxDuration == time.Minute },
		},
		"a pathway": {
			agents.Choice{ID: web, Overrides: agents.Patch{Pathway: callwright.Given("p1"), StartNode: callwright.Given("begin")}},
			func(a agents.Agent) bool {
				led := production
				led.StartNode = "begin"
				return a.Task == "" && a.Pathway == led && a.Voice == "rms"
			},
		},
		"no temperature": {
			agents.Choice{ID: web, Overrides: agents.Patch{Temperature: callwright.Cleared[float64]()}},
			func(a agents.Agent) bool { return a.Temperature == nil },
		},
		"nothing but overrides": {
			agents.Choice{Overrides: agents.Patch{Task: callwright.Given("Ask.")}},
			func(a agents.Agent) bool { return a.Task == "Ask." },
		},
	} {
		if a, err := s.Calling(t.Context(), "a", test.choice); err != nil || !test.good(a) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestCallingRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	web := create(t, s, agents.Agent{Task: "Help."}).ID
	for name, test := range map[string]struct {
		choice agents.Choice
		org    callwright.OrgID
		field  string
	}{
		"nothing":             {agents.Choice{}, "a", "task"},
		"an absent web agent": {agents.Choice{ID: "nobodys"}, "a", "agent_id"},
		"another's web agent": {agents.Choice{ID: web}, "b", "agent_id"},
		"both agents":         {agents.Choice{ID: web, Agent: agents.Agent{Task: "Ask."}}, "a", "agent_id"},
		"task and pathway": {
			agents.Choice{Overrides: agents.Patch{Task: callwright.Given("Ask."), Pathway: callwright.Given("p1")}}, "a", "task",
		},
		"a version without a pathway": {
			agents.Choice{ID: web, Overrides: agents.Patch{PathwayVersion: callwright.Given(pathway.Selector{Number: 1})}},
			"a", "pathway_version",
		},
		"a voice": {agents.Choice{ID: web, Overrides: agents.Patch{Voice: callwright.Given("robot")}}, "a", "voice"},
	} {
		_, err := s.Calling(t.Context(), test.org, test.choice)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
