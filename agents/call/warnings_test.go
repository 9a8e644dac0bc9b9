package call_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// monotone is a tts.Speakers of an engine that changes only the tempo.
type monotone struct{ tts.Speakers }

func (monotone) Applies() (pitch, tempo bool) { return false, true }

// TestIgnoredSettings checks that the warnings name each voice setting that takes no effect, with the reason.
func TestIgnoredSettings(t *testing.T) {
	t.Parallel()
	a := agents.Agent{VoiceSettings: `{"pitch":1.1,"speed":1.2,"stability":0.5}`}
	for name, change := range map[string]func(*call.Config){
		"voice_settings.pitch has no effect: the speech engine of this server does not change it": func(c *call.Config) { c.Voices = monotone{} },
		"": func(*call.Config) {},
	} {
		inHouseWith(t, func(t *testing.T, h *house) {
			got := strings.Join(h.Warnings(call.Call{Agent: a}), "\n")
			want := strings.TrimSpace(name + "\nvoice_settings.stability has no effect: the speech engines of this server have no such setting")
			if got != want {
				t.Errorf("the warnings are %q, want %q", got, want)
			}
		}, change)
	}
}

// TestWarnings checks that Warnings reports an unfollowed task only if the stand-in for a model leads or led the call, and a missing
// analysis only until the analysis was tried.
func TestWarnings(t *testing.T) {
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
			if got := strings.Join(h.Warnings(c.call), " "); (got != "") != c.want || c.want && !strings.Contains(got, "a free task is not followed") {
				t.Errorf("%s: %q", name, got)
			}
		}
		analyzed := call.Call{Plan: call.Plan{SummaryPrompt: "In one line.", Dispositions: []string{"sold"}}}
		if got := h.Warnings(analyzed); len(got) != 1 || got[0] != "the call gets no analysis (a summary and a disposition): a language model is required" {
			t.Errorf("of an analysis the warnings are %q", got)
		}
		analyzed.Analysis.Error = "the model of this server can't analyze calls"
		if got := h.Warnings(analyzed); len(got) > 0 {
			t.Errorf("of an analysis that was tried the warnings are %q", got)
		}
		if !strings.Contains(h.TaskLimits(), "a free task is not followed") {
			t.Errorf("the limits are %q", h.TaskLimits())
		}
	}, func(c *call.Config) { c.Model = llm.Selection{Default: scripted.New()} })
	own := func(context.Context, call.Call) (conversation.Brain, error) { return nil, nil } //nolint:nilnil // the call is left to its agent
	for name, change := range map[string]func(*call.Config){
		"a model": func(*call.Config) {}, "a brain of the program's own": func(c *call.Config) { c.Model, c.NewBrain = llm.Selection{Default: scripted.New()}, own },
	} {
		inHouseWith(t, func(t *testing.T, h *house) {
			if got := h.Warnings(call.Call{Agent: agents.Agent{Task: free}}); h.TaskLimits() != "" || len(got) > 0 {
				t.Errorf("%s: %q, %q", name, h.TaskLimits(), got)
			}
		}, change)
	}
}
