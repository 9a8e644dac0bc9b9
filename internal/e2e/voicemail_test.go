package e2e_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// These constants are the greeting of an answering machine, and the message that the agent leaves.
const (
	recorded = "Hello. You have reached the office of Robin Miller. Nobody can take your call right now. " +
		"Please leave your name and your number after the tone, and we will call you back."
	message = "This is the dentist. Please call us back."
)

// machine returns the greeting of an answering machine, followed by its tone.
func machine(t *testing.T) pcm.Audio {
	t.Helper()
	greeting := speak(t, callerVoice, recorded)
	for i := range greeting.Rate * 6 / 5 { // 0.5 s of silence, then the tone
		sample := 0.0
		if i > greeting.Rate/2 {
			sample = 9000 * math.Sin(2*math.Pi*1000*float64(i)/float64(greeting.Rate))
		}
		greeting.Samples = append(greeting.Samples, int16(sample))
	}
	return greeting
}

// TestAnsweringMachine has an answering machine answer a call. The agent must leave the message after the tone, as the record and the
// recording show, or leave none and retry the call.
func TestAnsweringMachine(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())

	request := appointment()
	request.Voicemail = callsoas.NewOptVoicemailOptions(callsoas.VoicemailOptions{
		Action: callsoas.VoicemailOptionsActionHangup,
	})
	request.Retry = callsoas.NewOptRetryOptions(callsoas.RetryOptions{
		Wait: 1, VoicemailAction: callsoas.NewOptRetryOptionsVoicemailAction(callsoas.RetryOptionsVoicemailActionLeaveMessage), VoicemailMessage: callsoas.NewOptString(message),
	})
	first := s.Call(t, request)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	phone.Say(t, machine(t))
	record := s.Ended(t, first)
	if record.AnsweredBy.Value != callsoas.AnsweredByVoicemail || strings.Contains(record.ConcatenatedTranscript, message) ||
		record.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT || record.RetriedBy.Value == "" {
		t.Fatalf("answered by %s, ended by %s, tried again by %q:\n%s", record.AnsweredBy.Value, record.CallEndedBy.Value,
			record.RetriedBy.Value, record.ConcatenatedTranscript)
	}

	second := record.RetriedBy.Value
	phone.Await(t, "CALL_ESTABLISHED", 2)
	phone.Say(t, machine(t))
	record = s.Ended(t, second)
	if record.AnsweredBy.Value != callsoas.AnsweredByVoicemail || record.RetryOf.Value != first || record.RetriedBy.Value != "" {
		t.Errorf("answered by %s, tries %q again, tried again by %q", record.AnsweredBy.Value, record.RetryOf.Value, record.RetriedBy.Value)
	}
	if !strings.HasSuffix(record.ConcatenatedTranscript, "assistant: "+message) {
		t.Errorf("the transcript is\n%s", record.ConcatenatedTranscript)
	}
	left, right := s.Recording(t, second)
	tone := find(t, machine(t), left)
	if said := find(t, speak(t, agentVoice, message), right); said.Offset < tone.End {
		t.Errorf("the message begins at %s, and the tone ends at %s", said.Offset, tone.End)
	}
	checkSaid(t, right, agentVoice, message)
}

// TestMessageOverSounds has an answering machine make sounds while the agent leaves its message. The message must not pause, and must not be
// softer meanwhile.
func TestMessageOverSounds(t *testing.T) {
	t.Parallel()
	const long = "This is the dentist. Your appointment is on Monday at nine in the morning. Please be here ten minutes before. " +
		"If you cannot come, please call us back until Friday. Thank you very much, and goodbye."
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Voicemail = callsoas.NewOptVoicemailOptions(callsoas.VoicemailOptions{
		Action: callsoas.VoicemailOptionsActionLeaveMessage, Message: callsoas.NewOptString(long),
	})
	id := s.Call(t, request)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	sounds := machine(t)
	quiet := make([]int16, sounds.Rate*3/2)
	sounds.Samples = slices.Concat(sounds.Samples, quiet, speak(t, callerVoice, "You have one minute left.").Samples, quiet[:sounds.Rate/2], cough().Samples,
		quiet[:sounds.Rate/2], speak(t, callerVoice, "Please hurry, the tape is almost full.").Samples)
	phone.Say(t, sounds)
	r := s.Ended(t, id)
	if r.AnsweredBy.Value != callsoas.AnsweredByVoicemail {
		t.Errorf("answered by %s", r.AnsweredBy.Value)
	}
	message := slices.IndexFunc(r.Transcripts, func(l callsoas.TranscriptLine) bool {
		return l.User == callsoas.TranscriptLineUserAssistant && l.Text == long
	})
	if message < 0 || len(r.Transcripts[message].Held) > 0 || r.Transcripts[message].Interrupted.Value {
		t.Errorf("the transcript is %+v", r.Transcripts)
	}
	left, right := s.Recording(t, id)
	during := find(t, sounds, left)
	var last pcm.Match
	for sentence := range strings.SplitAfterSeq(long, ". ") {
		match := checkAsLoud(t, right, agentVoice, sentence)
		if match.Offset < last.Offset {
			t.Errorf("%q is at %v, before the end of what was said before it, %v", sentence, match.Offset, last.End)
		}
		last = match
	}
	if during.End > last.End {
		t.Errorf("the machine's sounds end at %v, and the message at %v", during.End, last.End)
	}
}
