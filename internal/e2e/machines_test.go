package e2e_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// These constants are the recordings of machines.
const (
	menu    = "For sales, press one. For support, press two."
	screens = "Please say your name and why you are calling."
	reason  = "This is the dentist for Robin."
	intro   = "Robin, your appointment is tomorrow. Goodbye."
)

// ears is a model service that recognizes the text of its field as the words of every utterance, and always answers with intro.
type ears struct{ words atomic.Pointer[string] }

func (e *ears) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/audio/transcriptions") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"text":%q}`, *e.words.Load())
		return
	}
	stream(w, fmt.Sprintf(`{"role":"assistant","content":%q}`, intro),
		`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`)
}

// soft appends silence and a tone of 440 Hz at -35 dBFS to a recording.
func soft(a pcm.Audio) pcm.Audio {
	for i := range a.Rate * 11 / 10 { // 0.7 s of silence, then the tone
		sample := 0.0
		if i > a.Rate*7/10 {
			sample = 32768 * math.Sqrt2 * math.Pow(10, -35.0/20) * math.Sin(2*math.Pi*440*float64(i)/float64(a.Rate))
		}
		a.Samples = append(a.Samples, int16(sample))
	}
	return a
}

// TestMachines has machines answer calls: an answering machine with a soft tone, which receives its message after the tone, a menu, on
// which the agent hangs up, and call screening, after which a person comes to the phone.
func TestMachines(t *testing.T) {
	t.Parallel()
	model := &ears{}
	services := httptest.NewServer(model)
	t.Cleanup(services.Close)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--stt", "openai", "--llm-base-url", services.URL+"/v1", "--llm-model", "m")
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task, request.FirstSentence = callsoas.NewOptString("Be kind."), callsoas.OptString{}
	request.WaitForGreeting = callsoas.NewOptBool(true)
	request.Machines = callsoas.NewOptMachineOptions(callsoas.MachineOptions{
		Voicemail: callsoas.NewOptMachineOptionsVoicemail(callsoas.MachineOptionsVoicemailLeaveMessage), VoicemailMessage: callsoas.NewOptString(message),
		Ivr:       callsoas.NewOptMachineOptionsIvr(callsoas.MachineOptionsIvrHangup),
		Screening: callsoas.NewOptMachineOptionsScreening(callsoas.MachineOptionsScreeningIntroduce), ScreeningMessage: callsoas.NewOptString(reason),
	})
	answered := 0
	play := func(words string, audio pcm.Audio) (id string) {
		model.words.Store(&words)
		id = s.Call(t, request)
		answered++
		phone.Await(t, "CALL_ESTABLISHED", answered)
		phone.Say(t, audio)
		return id
	}
	check := func(r *callsoas.CallRecord, by callsoas.AnsweredBy, category callsoas.AnswererCategory) {
		t.Helper()
		t.Logf("%+v\n%s", r.Answerer.Value, r.ConcatenatedTranscript)
		if r.AnsweredBy.Value != by || r.Answerer.Value.Category != category {
			t.Errorf("answered by %s, %+v", r.AnsweredBy.Value, r.Answerer.Value)
		}
	}

	greeting := soft(speak(t, callerVoice, recorded))
	id := play(recorded, greeting)
	r := s.Ended(t, id)
	check(r, callsoas.AnsweredByVoicemail, callsoas.AnswererCategoryVoicemail)
	left, right := s.Recording(t, id)
	tone := find(t, greeting, left)
	if said := find(t, speak(t, agentVoice, message), right); said.Offset < tone.End || said.Offset > tone.End+3*time.Second {
		t.Errorf("the message begins at %s, and the tone ends at %s", said.Offset, tone.End)
	}
	checkSaid(t, right, agentVoice, message)

	r = s.Ended(t, play(menu, speak(t, callerVoice, menu)))
	check(r, callsoas.AnsweredByUnknown, callsoas.AnswererCategoryIvr)
	if r.Answerer.Value.Rule != callsoas.AnswererRuleWords || r.Answerer.Value.Words.Value != "press one" || r.CallEndedBy.Value != callsoas.CallRecordCallEndedByASSISTANT {
		t.Errorf("ended by %s after %+v", r.CallEndedBy.Value, r.Answerer.Value)
	}

	id = play(screens, speak(t, callerVoice, screens))
	says(t, s, id, reason)
	hello := "Hello?"
	model.words.Store(&hello)
	phone.Say(t, speak(t, callerVoice, hello))
	r = s.Ended(t, id)
	check(r, callsoas.AnsweredByHuman, callsoas.AnswererCategoryHuman)
	_, right = s.Recording(t, id)
	checkSaid(t, right, agentVoice, reason, intro)
}
