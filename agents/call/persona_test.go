package call_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/voicemail"
	"github.com/callwright/callwright/speech/tts"
)

// desk is an Agents that answers with a persona in the form that agents.Service returns, or with err. The persona hands over to the pathway
// clinic.
type desk struct {
	call.Agents
	err error
}

func (d desk) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	if d.err != nil {
		return agents.Agent{PersonaID: "desk", MaxDuration: time.Hour}, d.err
	}
	return agents.Agent{
		PersonaID: "desk", PersonaVersion: 3, MaxDuration: time.Hour, Task: "start: say \"front desk\"\notherwise: say \"pardon\"",
		Conditions: []persona.Condition{{Pathway: "clinic", When: `the caller says "appointment"`}},
	}, nil
}

// TestPersonaHandsOver checks that a persona hands its call over to a pathway, which then sends its request to the calendar.
func TestPersonaHandsOver(t *testing.T) {
	t.Parallel()
	inClinic(t, func(t *testing.T, h *house, _ *library, r *agentstest.Requests) {
		in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.hears(phone, "front desk")
		h.says(phone, "hm")
		h.hears(phone, "pardon")
		h.says(phone, "an appointment")
		h.hears(phone, "hello")
		h.says(phone, "monday")
		h.hears(phone, "come at nine")
		h.says(phone, "fine")
		got, lines := h.ended("in")
		if got.Status != call.StatusCompleted || got.Agent.PersonaVersion != 3 || got.Variables["slot"] != "nine" || len(r.Made()) != 1 {
			t.Errorf("record %+v after %d requests", got, len(r.Made()))
		}
		want := []string{
			"assistant: front desk", "user: hm", "assistant: pardon", "user: an appointment", "assistant: hello", "user: monday",
			"assistant: one moment come at nine", "user: fine", "assistant: bye",
		}
		if said := spoken(lines); !slices.Equal(said, want) {
			t.Errorf("transcript %q, want %q", said, want)
		}
		logs, err := h.Logs(t.Context(), "a", "in")
		if err != nil || len(logs) != 3 || logs[0].Turn != 3 || logs[0].Entries[0].Kind != pathway.LogDecision ||
			!strings.Contains(logs[0].Entries[0].Text, "the pathway clinic takes over") {
			t.Errorf("logs %+v, %v", logs, err)
		}
	}, func(c *call.Config) { c.Agents, c.Model = desk{}, scripted.New() })
}

// tuned contains a persona that has settings of speech and of machines.
type tuned struct{ agents.Personas }

func (tuned) Load(_ context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error) {
	return persona.Persona{ID: id, Org: org}, persona.Version{
		Persona: id, Number: 1, Orchestration: "start: say \"ask the API now\"",
		Call: persona.CallConfig{
			VoiceSettings: `{"speed":1.5,"pitch":0.8}`, Pronunciation: []tts.Pronunciation{{Word: "api", Spoken: "a p i"}},
			Machines: agents.Machines{IVR: agents.MachineHangup},
		},
	}, nil
}

// TestPersonaSettingsInCall checks that the voice settings, the pronunciations and the reactions to machines of a persona take effect in a
// placed call.
func TestPersonaSettingsInCall(t *testing.T) {
	t.Parallel()
	engine := &noted{}
	inHouseWith(t, func(t *testing.T, h *house) {
		c, err := h.Create(t.Context(), "a", call.Request{
			From: "+15550000001", To: "+15550000002", Agent: agents.Agent{PersonaID: "desk", WaitForGreeting: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		phone := h.answered()
		h.says(phone, "hello")
		h.hears(phone, "ask the a p i now")
		phone.Say("for sales press one for support press two")
		<-phone.Done()
		got, lines := h.ended(c.ID)
		if got.Answerer.Category != call.CategoryIVR || got.Ending.Cause != call.CauseLocalHangup || lines[1].Text != "ask the API now" {
			t.Errorf("%+v: the call ends with %+v after %q", got.Answerer, got.Ending, spoken(lines))
		}
		if p := engine.requests[0].Prosody; p != (tts.Prosody{Tempo: 1.5, Pitch: 0.8}) {
			t.Errorf("the engine speaks with %+v", p)
		}
	}, func(c *call.Config) {
		store := memstore.New()
		made, err := agents.New(agents.Config{
			Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store, Personas: tuned{},
		})
		if err != nil {
			panic(err)
		}
		c.Agents, c.Synthesizer, c.Model = made, engine, scripted.New()
		c.AMD = func(rate int, _ string) call.AMD { return voicemail.New(rate, "en", nil) }
	})
}

// TestNumberWithoutAgent checks that a call to a number that nothing leads is refused, and that its record and its failure state the reason.
func TestNumberWithoutAgent(t *testing.T) {
	t.Parallel()
	const reason = "the number has no task, pathway, persona or brain: pathway not found"
	inHouseWith(t, func(t *testing.T, h *house) {
		in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		if _, err := in.Phone(t.Context()); err == nil {
			t.Error("the call was answered")
		}
		synctest.Wait()
		got, _, err := h.Get(t.Context(), "a", "in")
		if err != nil || got.Ending.Cause != call.CauseNoAgent || got.Ending.SIPCode != 480 || got.Status != call.StatusFailed || got.ErrorMessage != reason {
			t.Fatalf("record %+v, %v", got, err)
		}
		if f := got.Failure(); f.Reason != "the number called has no task, pathway, persona or brain" || !strings.Contains(f.Detail, reason) {
			t.Errorf("failure %+v", f)
		}
	}, func(c *call.Config) {
		c.Agents = desk{err: callwright.InField("phone_number", callwright.Errorf(callwright.CodeInvalidState, "%s", reason))}
	})
}

// TestPersonaThatIsGone checks that an incoming call whose persona is missing is not answered, and that the call's record states the
// reason. If the persona is only unavailable, there must be no record.
func TestPersonaThatIsGone(t *testing.T) {
	t.Parallel()
	for code, recorded := range map[callwright.Code]bool{
		callwright.CodeNotFound: true, callwright.CodeInvalidState: true, callwright.CodeUnavailable: false,
	} {
		inHouseWith(t, func(t *testing.T, h *house) {
			in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
			if _, err := in.Phone(t.Context()); err == nil {
				t.Errorf("%s: the call was answered", code)
			}
			synctest.Wait()
			got, _, err := h.Get(t.Context(), "a", "in")
			if (err == nil) != recorded {
				t.Fatalf("%s: reading the record: %v", code, err)
			}
			if recorded && (got.Ending.Cause != call.CauseNoPathway || got.Agent.PersonaID != "desk" || !strings.Contains(got.ErrorMessage, "persona")) {
				t.Errorf("%s: record %+v", code, got)
			}
		}, func(c *call.Config) {
			c.Agents = desk{err: callwright.InField("persona_id", callwright.Errorf(code, "the persona is away"))}
		})
	}
}
