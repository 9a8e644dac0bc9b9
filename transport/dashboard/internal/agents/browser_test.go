package agents_test

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
)

// typed contains what a person types or chooses in the conversation section, by label.
var typed = map[string]string{
	"Who talks over the agent interrupts it":                          "By several words",
	"Voice that pauses the agent, in milliseconds":                    "350",
	"Shortest pause that ends the other side's turn, in milliseconds": "450",
	"Longest pause, in milliseconds":                                  "4000",
	"Seconds of silence until the agent asks":                         "12.5",
	"How often in a row it asks":                                      "3",
	"Its question":                                                    "Hello?",
	"Its last words":                                                  "Bye.",
	"Seconds of the agent's own silence until it bridges them":        "2",
	"Words that bridge its silence":                                   "Hm.",
	"Speed of the voice":                                              "1.2",
	"Pitch of the voice":                                              "0.9",
	"Pronunciation":                                                   "Nguyen = win",
	"Background sound":                                                "cafe",
	"Names and terms that are likely in the call":                     "Ada, Robin",
	"An answering machine":                                            "Leave the message below",
	"Message after the tone":                                          "Call us.",
	"A menu":                                                          "Hang up",
	"Call screening, which asks who calls and why":                    "Say the words below, and wait for a person",
	"Name and reason for call screening":                              "Ada.",
	"An announcement of the network":                                  "Go on as with a person",
	"A fax machine":                                                   "Go on as with a person",
}

// absent lists the labels that the forms of some objects lack.
var absent = map[string][]string{
	"/agents/personas/new": {"Names and terms that are likely in the call"},
	"/agents/numbers/+14155550100": {
		"Names and terms that are likely in the call", "An answering machine", "Message after the tone", "A menu",
		"Call screening, which asks who calls and why", "Name and reason for call screening", "An announcement of the network", "A fax machine",
	},
}

// TestInBrowser finds every conversation setting of a web agent, a persona and a number by its label in a browser, sets and saves it, and
// finds its value when the page is opened again.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	h := open(t)
	p := browser.Open(t, true)
	sources := map[string]string{}
	for path, step := range map[string]struct {
		own    map[string]string
		button string
		get    func() agents.Agent
	}{
		"/agents/new": {map[string]string{"Task": "Talk."}, "Create the web agent", func() agents.Agent {
			return must(h.agents.ListAgents(t.Context(), org, callwright.Keyset{}, 0)).Items[0].Agent
		}},
		"/agents/numbers/+14155550100": {map[string]string{"Task": "Talk."}, "Save", func() agents.Agent {
			return must(h.agents.Inbound(t.Context(), org, "+14155550100")).Agent
		}},
		"/agents/personas/new": {map[string]string{"Name": "Desk"}, "Create the persona", func() agents.Agent {
			return agentform.AgentOf(must(h.personas.Get(t.Context(), org, must(h.personas.List(t.Context(), org, 1, 0))[0].Persona.ID)).Draft.Call)
		}},
	} {
		p.Go(t, h.URL+path)
		sources[path] = h.want(http.StatusOK, path)
		if browser.Eval[bool](t, p, `document.getElementById("conversation").open`) {
			t.Errorf("%s: the section of default settings is unfolded", path)
		}
		for label, value := range step.own {
			p.Fill(t, label, value)
		}
		p.Click(t, "#conversation summary")
		fields := maps.Clone(typed)
		for _, label := range absent[path] {
			delete(fields, label)
		}
		for label, value := range fields {
			p.Fill(t, label, value)
		}
		p.ClickText(t, step.button)
		p.AwaitText(t, "ed.") // "is created." or "are saved."
		p.Await(t, `#conversation[open] [name="interruptibility"]`)
		if shown := browser.Eval[string](t, p, `document.querySelector('[name="idle.prompt"]').value`); shown != "Hello?" {
			t.Errorf("%s: the question is %q", path, shown)
		}
		sources[path+" afterwards"] = h.want(http.StatusOK, browser.Eval[string](t, p, "location.pathname"))
		for _, v := range p.Axe(t, "main") {
			t.Errorf("%s: %s", path, v)
		}
		got, want := step.get(), wanted(path)
		want.Task, want.MaxDuration = got.Task, got.MaxDuration
		same(t, got, want)
	}
	for _, path := range []string{"/agents", "/agents/numbers", "/agents/personas"} {
		p.Go(t, h.URL+path)
		sources[path] = h.want(http.StatusOK, path)
		for _, v := range p.Axe(t, "main") {
			t.Errorf("%s: %s", path, v)
		}
	}
	for _, fault := range browser.Validate(t, sources) {
		t.Error(fault)
	}
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
}

// wanted returns the agent that typed makes in the form of a page.
func wanted(path string) agents.Agent {
	a := agents.Agent{
		Interruptibility: new(1), Interruption: new(350 * time.Millisecond), LeastWait: 450 * time.Millisecond, LongestWait: 4 * time.Second,
		Idle: &dialogue.Idle{
			After: new(12500 * time.Millisecond), Times: new(3), Prompt: "Hello?", Goodbye: "Bye.", FillerAfter: new(2 * time.Second), Filler: "Hm.",
		},
		VoiceSettings: `{"pitch":0.9,"speed":1.2}`, Background: "cafe", Pronunciation: []agents.Pronunciation{{Word: "Nguyen", Spoken: "win"}},
	}
	if path == "/agents/new" {
		a.Keywords = []string{"Ada", "Robin"}
	}
	if path != "/agents/numbers/+14155550100" {
		a.Machines = agents.Machines{
			Voicemail: agents.MachineMessage, VoicemailMessage: "Call us.", IVR: agents.MachineHangup, Screening: agents.MachineIntroduce,
			ScreeningMessage: "Ada.", Announcement: agents.MachineIgnore, Fax: agents.MachineIgnore,
		}
	}
	return a
}
