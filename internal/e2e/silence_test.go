package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// TestSilentCaller has a caller ask the agent to wait, return, and then say nothing more. The agent must wait without a question, answer the
// caller who returns, and then ask twice and end the call.
func TestSilentCaller(t *testing.T) {
	t.Parallel()
	const (
		after   = 3 * time.Second // of silence, before the agent asks
		patient = "Of course, take your time."
		back    = "Welcome back."
		prompt  = "Can you hear me?"
		bye     = "I hear nothing. Goodbye."
	)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task = callsoas.NewOptString(`Wait for the caller.
when "here is my calendar": say "` + back + `"
when "one moment please": say "` + elsewhere + `"
otherwise: say "` + elsewhere + `"`)
	request.Idle = callsoas.NewOptNilIdleOptions(callsoas.IdleOptions{
		After: callsoas.NewOptFloat64(after.Seconds()), Times: callsoas.NewOptInt(2), Prompt: callsoas.NewOptString(prompt), Goodbye: callsoas.NewOptString(bye),
		FillerAfter: callsoas.NewOptFloat64(0),
	})
	id := s.Call(t, request)
	says(t, s, id, greeting)
	phone.Say(t, speak(t, callerVoice, "One moment please."))
	says(t, s, id, patient)
	phone.HearsMore(t, 3*after)
	phone.Say(t, speak(t, callerVoice, "Here is my calendar."))
	r := s.Ended(t, id)
	if said := lines(r, callsoas.TranscriptLineUserAssistant); !slices.Equal(said, []string{greeting, patient, back, prompt, prompt, bye}) {
		t.Errorf("the agent said %q", said)
	}
	if r.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT {
		t.Errorf("ended by %s", r.CallEndedBy.Value)
	}
	end := 0.0
	for _, l := range r.Transcripts {
		t.Logf("%s %q at %.2f to %.2f s", l.User, l.Text, l.Start.Value, l.End.Value)
		if (l.Text == prompt || l.Text == bye) && l.Start.Value < end+after.Seconds() {
			t.Errorf("%q comes %.2f s after the words before it", l.Text, l.Start.Value-end)
		}
		end = l.End.Value
	}
	checkSaid(t, phone.Heard(t), agentVoice, greeting, patient, back, prompt, bye)
}
