package agents_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

// settingsBy returns the effective settings of an agent by name, each as its value in JSON and its source.
func settingsBy(t *testing.T, a agents.Agent, inbound bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, s := range a.Effective(inbound) {
		value, err := json.Marshal(s.Value)
		if err != nil {
			t.Fatal(err)
		}
		if all[s.Name] != "" {
			t.Errorf("%s is listed twice", s.Name)
		}
		all[s.Name] = string(value) + " " + string(s.Source)
	}
	return all
}

// TestSources checks the value and the source of each setting of a call by a web agent and a persona with overrides, and of a call to a
// number.
func TestSources(t *testing.T) {
	t.Parallel()
	s := newService(t, withPersonas)
	web := create(t, s, agents.Agent{Task: "Help.", Voice: "rms", Keywords: []string{"Acme:2"}, LeastWait: time.Second}).ID
	called, err := s.Calling(t.Context(), "a", agents.Choice{ID: web, Overrides: agents.Patch{
		PersonaID: callwright.Given("desk"), Interruptibility: callwright.Given(1), VoiceSettings: callwright.Given(`{"pitch":1.1}`),
		Pronunciation: callwright.Cleared[[]agents.Pronunciation](),
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := settingsBy(t, called, false)
	for name, want := range map[string]string{
		"interruptibility": "1 call", "interruption_threshold": "500 call", // the call's level replaces the persona's threshold
		"min_endpointing_delay": "1000 agent", "max_endpointing_delay": "2000 persona",
		"idle.prompt": `"Hello?" persona`, "idle.after": "10 default", "idle.times": "2 default", "idle.filler_after": "4 default",
		"voice": `"rms" agent`, "voice_settings.pitch": "1.1 call", "voice_settings.speed": "1 default", "pronunciation_guide": "null default",
		"background_track": `"cafe" persona`, "language": `"de" persona`, "keywords": `["Acme"] agent`, "wait_for_greeting": "true persona",
		"machines.voicemail": `"hangup" persona`, "machines.fax": `"hangup" default`, "machines.ivr": `"ignore" default`,
	} {
		if got[name] != want {
			t.Errorf("%s is %s, not %s", name, got[name], want)
		}
	}

	s = registered(t)
	update(t, s, agents.Patch{Task: callwright.Given("Sell."), Interruptibility: callwright.Given(0), LeastWait: callwright.Given(4 * time.Second)})
	answering, err := s.Answering(t.Context(), "a", number)
	if err != nil {
		t.Fatal(err)
	}
	got = settingsBy(t, answering, true)
	for name, want := range map[string]string{
		"interruptibility": "0 number", "interruption_threshold": "null number", "min_endpointing_delay": "4000 number",
		"max_endpointing_delay": "4000 default", "idle.prompt": `"Are you still there?" default`, "machines.fax": "",
	} {
		if got[name] != want {
			t.Errorf("%s of a number is %q, not %q", name, got[name], want)
		}
	}
	for name, at := range settingsBy(t, agents.Agent{Voice: "rms"}, true) {
		if name == "voice" && at != `"rms" ` {
			t.Errorf("the voice of an agent without sources is %s", at)
		}
	}
}
