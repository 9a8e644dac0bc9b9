package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// switchboard is a model service. It recognizes the words that the test sets as the words of the next utterance, and no words in later ones,
// so that an utterance that a busy machine divides has its words once.
type switchboard struct {
	answer func(a asked) (deltas []string) // deltas of the answer to a request

	mu    sync.Mutex
	words string   // of the next utterance
	asked []string // the last message of each request for an answer
}

// newSwitchboard starts a switchboard, and returns it with the flags of a server that uses it.
func newSwitchboard(t *testing.T, answer func(a asked) (deltas []string)) (b *switchboard, flags []string) {
	t.Helper()
	b = &switchboard{answer: answer}
	services := httptest.NewServer(b)
	t.Cleanup(services.Close)
	return b, []string{"--stt", "openai", "--llm-base-url", services.URL + "/v1", "--llm-model", "m"}
}

func (b *switchboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/audio/transcriptions") {
		b.mu.Lock()
		words := b.words
		b.words = ""
		b.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"text":%q}`, words)
		return
	}
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil || len(a.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	b.asked = append(b.asked, a.Messages[len(a.Messages)-1].Content)
	b.mu.Unlock()
	stream(w, b.answer(a)...)
}

// hears sets the words of the next utterance.
func (b *switchboard) hears(words string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.words = words
}

// requests returns the last messages of the requests so far.
func (b *switchboard) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// await waits until the model is asked about a message.
func (b *switchboard) await(t *testing.T, message string) {
	t.Helper()
	await.That(t, fmt.Sprintf("the model to be asked about %q", message), func() bool {
		return slices.ContainsFunc(b.requests(), func(m string) bool { return strings.Contains(m, message) })
	})
}

// These constants are a turn of two parts, and what the caller says after it.
const (
	wish   = "I would like an appointment."
	detail = "For my daughter, on Tuesday."
	thanks = "Thank you, that is all."
)

// patientMS is the least silence, in milliseconds, after which a turn of TestEarlyAnswers is over. It is long, because the caller continues
// a turn only after the model has been asked about its first part.
const patientMS = 8000

// TestEarlyAnswers checks answers that are begun before the caller's turn is over. The caller continues the first turn when its answer has
// been begun: the answer is withdrawn, its tool is not called, and the whole turn is answered when it is over, because withdrawn answers
// may cost only half a request to the model per turn. The answer to the second turn is begun early and used: nothing of it is heard before
// the turn is over.
func TestEarlyAnswers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var booked []string
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			What string `json:"what"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		booked = append(booked, body.What)
		mu.Unlock()
		_, _ = w.Write([]byte(`{"id":7}`))
	}))
	t.Cleanup(shop.Close)
	const noted, bye = "Your appointment is noted.", "You are welcome, goodbye."
	board, flags := newSwitchboard(t, func(a asked) []string {
		switch last := a.Messages[len(a.Messages)-1]; {
		case last.Role == "tool":
			return []string{fmt.Sprintf(`{"role":"assistant","content":%q}`, noted)}
		case strings.Contains(last.Content, thanks):
			return []string{fmt.Sprintf(`{"role":"assistant","content":%q}`, bye),
				`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`}
		default:
			what, _ := json.Marshal(map[string]string{"what": last.Content})
			return []string{fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"book","arguments":%q}}]}`, what)}
		}
	})
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), flags...)
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task = callsoas.NewOptString("Be kind.")
	request.Tools = callsoas.NewOptNilAgentTools(callsoas.AgentTools{callsoas.AgentTool(`{"name":"book","description":"Books.",
		"url":"` + shop.URL + `","method":"POST","body":{"what":"{{input.what}}"},
		"input_schema":{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}}`)})
	request.MinEndpointingDelay = callsoas.NewOptFloat64(patientMS)
	id := s.Call(t, request)
	says(t, s, id, greeting)

	board.hears(wish)
	phone.Say(t, speak(t, callerVoice, wish))
	board.await(t, wish)
	board.hears(detail)
	phone.Say(t, speak(t, callerVoice, detail))
	says(t, s, id, noted)
	board.hears(thanks)
	phone.Say(t, speak(t, callerVoice, thanks))
	r := s.Ended(t, id)

	whole := wish + " " + detail
	if said := lines(r, callsoas.TranscriptLineUserUser); !slices.Equal(said, []string{whole, thanks}) {
		t.Errorf("the caller said %q", said)
	}
	if said := lines(r, callsoas.TranscriptLineUserAssistant); !slices.Equal(said, []string{greeting, noted, bye}) {
		t.Errorf("the agent said %q", said)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(booked, []string{whole}) {
		t.Errorf("the tool was called for %q", booked)
	}
	t.Logf("the model was asked about %q; the call: %+v", board.requests(), r.Conversation.Value)
	checkBegun(t, r, 1, callsoas.CallBegunWhyContinued)
	checkBegun(t, r, 2, "")
	if c := r.Conversation.Value; c.Turns != 2 || c.AnswersBegun != 2 || c.AnswersWithdrawn != 1 || c.TurnsCut != 0 || c.Interrupted != 0 ||
		c.ModelCalls.Value != 4 || c.ModelCallsWithdrawn.Value != 1 {
		t.Errorf("the conversation is summarized as %+v", c)
	}
}

// checkBegun checks that the early answers to a turn were withdrawn for the given reasons. An empty reason means that the answer was used.
// No answer may be audible before its turn was over.
func checkBegun(t *testing.T, r *callsoas.CallRecord, turn int, why ...callsoas.CallBegunWhy) {
	t.Helper()
	var over, spoken float64 // seconds
	var got []callsoas.CallBegunWhy
	for _, l := range r.Transcripts {
		if l.Turn.Value != turn {
			continue
		}
		t.Logf("turn %d: %s %q at %.2f to %.2f s, waited %+v, begun %+v, latency %+v", turn, l.User, l.Text, l.Start.Value, l.End.Value, l.Waited.Value, l.Begun, l.Latency.Value)
		switch l.User {
		case callsoas.TranscriptLineUserUser:
			over = l.End.Value + l.Waited.Value.Ms/1000
		case callsoas.TranscriptLineUserAssistant:
			spoken = l.Start.Value
			for _, b := range l.Begun {
				got = append(got, b.Why.Value)
				if b.Used != (b.Why.Value == "") || b.StartMs > over*1000 {
					t.Errorf("turn %d is over at %.2f s, begun: %+v", turn, over, b)
				}
			}
		default:
		}
	}
	if !slices.Equal(got, why) {
		t.Errorf("the early answers to turn %d ended by %q, want %q", turn, got, why)
	}
	if spoken < over {
		t.Errorf("turn %d is over at %.2f s, and its answer is heard from %.2f s on", turn, over, spoken)
	}
}
