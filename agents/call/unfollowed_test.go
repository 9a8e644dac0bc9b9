package call_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// TestUnfollowed wants calls to say that their task is not followed while the model is a stand-in, and only then.
func TestUnfollowed(t *testing.T) {
	t.Parallel()
	const free, rules = "Ask whether the parcel came.", `when "yes": say "Thank you." and end`
	pathway := agents.Agent{Task: free, Pathway: agents.PathwayRef{ID: "p"}}
	inHouseWith(t, func(t *testing.T, h *house) {
		for name, c := range map[string]struct {
			call call.Call
			want bool
		}{
			"a free task":          {call.Call{Agent: agents.Agent{Task: free}}, true},
			"the stand-in led it":  {call.Call{Agent: agents.Agent{Task: free}, ModelUsed: "scripted"}, true},
			"another model led it": {call.Call{Agent: agents.Agent{Task: free}, ModelUsed: "gpt"}, false},
			"rules":                {call.Call{Agent: agents.Agent{Task: rules}}, false},
			"a pathway":            {call.Call{Agent: pathway}, false},
			"no task":              {call.Call{}, false},
		} {
			if got := h.Unfollowed(c.call); (got != "") != c.want || c.want && !strings.Contains(got, "a free task is not followed") {
				t.Errorf("%s: %q", name, got)
			}
		}
		if !strings.Contains(h.TaskLimits(), "a free task is not followed") {
			t.Errorf("the limits are %q", h.TaskLimits())
		}
	}, func(c *call.Config) { c.Model = scripted.New() })
	own := func(context.Context, call.Call) (conversation.Brain, error) { return nil, nil } //nolint:nilnil // the call is left to its agent
	for name, change := range map[string]func(*call.Config){
		"a model": func(*call.Config) {}, "a brain of the program's own": func(c *call.Config) { c.Model, c.NewBrain = scripted.New(), own },
	} {
		inHouseWith(t, func(t *testing.T, h *house) {
			if h.TaskLimits() != "" || h.Unfollowed(call.Call{Agent: agents.Agent{Task: free}}) != "" {
				t.Errorf("%s: %q, %q", name, h.TaskLimits(), h.Unfollowed(call.Call{Agent: agents.Agent{Task: free}}))
			}
		}, change)
	}
}
