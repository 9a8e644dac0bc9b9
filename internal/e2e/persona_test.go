package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// reception returns the JSON of a persona that answers questions itself, and hands appointments over to a pathway.
func reception(pathway string) string {
	return `{"name":"Front desk",
		"orchestration_prompt":"start: say \"Front desk. How can I help you?\"\nwhen \"open\": say \"We are open from nine to five.\"\notherwise: say \"Do you want an appointment?\"",
		"pathway_conditions":[{"pathway_id":"` + pathway + `","condition":"the caller says \"appointment\""}],
		"call_config":{"voice":"` + agentVoice + `","record":true,"max_duration":2,"idle":{"filler_after":0}}}`
}

// TestPersonaOnTheTelephone attaches a persona to a number. It must answer a question itself, and hand the appointment over to a pathway,
// which ends the call. A test of the persona must take the same path.
func TestPersonaOnTheTelephone(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := start(t, ca.CertFile())
	s.AttachInbound(t, ours.String(), "127.0.0.1")
	var create agentsoas.PersonaCreate
	if err := create.UnmarshalJSON([]byte(reception(s.Publish(t, bookings("Goodbye."))))); err != nil {
		t.Fatal(err)
	}
	made, err := s.API.CreatePersona(t.Context(), &create)
	if err != nil {
		t.Fatal(err)
	}
	persona := made.Data.ID
	report, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{PersonaID: agentsoas.NewOptNilString(persona)},
		agentsoas.UpdateInboundNumberParams{PhoneNumber: ours.String()})
	if err != nil || len(report.FailedUpdates) > 0 {
		t.Fatalf("the number's persona: %+v, %v", report, err)
	}

	phone.Dial(t, s.Number(ours.String()))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	call := s.Calls(t)[0].CallID
	says(t, s, call, "How can I help you?")
	phone.Say(t, speak(t, callerVoice, "When are you open?"))
	says(t, s, call, "We are open from nine to five.")
	phone.Say(t, speak(t, callerVoice, "I would like an appointment."))
	says(t, s, call, "Which day?")
	phone.Say(t, speak(t, callerVoice, "Tuesday."))
	record := s.Ended(t, call)
	if record.Status != callsoas.CallStatusCompleted || record.PersonaID.Value != persona || record.PersonaVersion.Value != 1 ||
		!record.Record || record.MaxDuration != 2 || record.RecordingURL.Null {
		t.Errorf("the record is %+v", record)
	}
	said := lines(record, callsoas.TranscriptLineUserAssistant)
	want := []string{"Front desk. How can I help you?", "We are open from nine to five.", "Which day?", "Goodbye."}
	if !slices.Equal(said, want) {
		t.Errorf("the agent said %q, want %q", said, want)
	}
	if got := decisions(record.PathwayLogs); len(got) < 2 || got[0].chosen != "ask" || !strings.Contains(got[0].why, "takes over") {
		t.Errorf("decisions %v", got)
	}
	checkSaid(t, phone.Heard(t), agentVoice, want...)

	var scenario agenttestoas.TestScenarioCreate
	if err := scenario.UnmarshalJSON([]byte(`{"persona_id":"` + persona + `","name":"Books","scenario_type":"REPLAY",
		"input_messages":[{"role":"user","content":"When are you open?"},{"role":"user","content":"An appointment."},{"role":"user","content":"Tuesday."}],
		"assertions":[{"type":"NODE_REACHED","config":{"node_id":"bye"}},{"type":"STRING_CHECK","config":{"value":"nine to five","operator":"contains"}}]}`)); err != nil {
		t.Fatal(err)
	}
	kept, err := s.API.CreateTestScenario(t.Context(), &scenario)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.API.StartTestRun(t.Context(), agenttestoas.OptTestRunStart{}, agenttestoas.StartTestRunParams{ID: kept.Data.ID})
	if err != nil {
		t.Fatal(err)
	}
	await.That(t, "the run of a persona's test to pass", func() bool {
		got, err := s.API.GetTestRun(t.Context(), agenttestoas.GetTestRunParams{ID: run.Data.RunID})
		if err != nil || got.Data.Status == agenttestoas.TestRunStatusFAILED || got.Data.Status == agenttestoas.TestRunStatusERROR {
			t.Fatalf("the run is %+v, %v", got, err)
		}
		return got.Data.Status == agenttestoas.TestRunStatusPASSED && got.Data.PersonaID.Value == persona
	})
}
