package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

const (
	keyRefused = "the language model refuses the key or the request"
	apology    = "I am sorry, I have a technical problem and must end the call. Goodbye."
)

// newModels serves language models that say their names, and end the call after the caller has pressed 9. They refuse all keys except
// "our-key".
func newModels(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer our-key" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided: ` + r.Header.Get("Authorization") +
				`","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`))
			return
		}
		var a struct {
			asked
			Model string `json:"model"`
		}
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || !a.Stream || len(a.Messages) == 0 {
			t.Errorf("the model was asked %+v, %v", a, err)
			return
		}
		deltas := []string{`{"role":"assistant","content":"This is the ` + a.Model + ` model."}`}
		if strings.Contains(a.Messages[len(a.Messages)-1].Content, "pressed 9") {
			deltas = append(deltas, `{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`)
		}
		stream(w, deltas...)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestModelsByName places calls with the models that calls and pathway nodes name. While one call runs, an outbound and an inbound call use
// a model that refuses its key. Their callers must hear an apology, and the record, the issue and the log must contain the cause. The first
// call must continue.
func TestModelsByName(t *testing.T) {
	t.Parallel()
	models := newModels(t)
	ca := authority(t)
	mine, other := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()}), baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--llm-base-url", models, "--llm-model", "small", "--llm-api-key", "our-key",
		"--llm-models", "near=large,strict=stern", "--llm-api-keys", "strict=their-key")
	const second = "+14155550101"
	s.AttachOutbound(t, ours.String(), mine.Server())
	s.AttachOutbound(t, second, other.Server())

	patient := byPathway(t, s, `{"id":"a","type":"Default","data":{"isStart":true,"prompt":"Talk.","modelOptions":{"disableSilenceRepeat":true}}}`)
	going := s.Call(t, patient)
	says(t, s, going, "This is the small model.")

	refused := s.Call(t, byModel(second, "strict"))
	says(t, s, refused, greeting)
	other.Press(t, "1")
	checkRefused(t, s, s.Ended(t, refused))
	other.AwaitReceived(t, "BYE ")
	checkSaid(t, other.Heard(t), agentVoice, greeting, apology)
	checkRefusedInbound(t, s, baresip.Start(t, baresip.Config{CA: ca}), second)
	checkRefusals(t, s, "their-key")

	mine.Press(t, "2")
	s.Until(t, going, "an answer", func(r *callsoas.CallRecord) bool { return len(lines(r, callsoas.TranscriptLineUserAssistant)) == 2 })
	mine.Hangup(t)
	r := s.Ended(t, going)
	if said := lines(r, callsoas.TranscriptLineUserAssistant); r.Status != callsoas.CallStatusCompleted || !r.ErrorMessage.Null ||
		r.Model.Value != "small" || !slices.Equal(said, []string{"This is the small model.", "This is the small model."}) {
		t.Errorf("status %s, error %q, model %s, said %q", r.Status, r.ErrorMessage.Value, r.Model.Value, said)
	}
	checkNamed(t, s, mine)
}

// byModel returns the request for a call from a number, with a task and the model of the given name. An empty name means the default model.
func byModel(from, name string) callsoas.CallCreate {
	c := appointment()
	c.From, c.Task = callsoas.NewOptString(from), callsoas.NewOptString("Talk to the caller.")
	if name != "" {
		c.Model = callsoas.NewOptString(name)
	}
	return c
}

// byPathway publishes a pathway of one or two nodes, and returns the request for a call that follows it. An edge leads from node "a" to
// node "b".
func byPathway(t *testing.T, s *server.Server, nodes ...string) callsoas.CallCreate {
	t.Helper()
	var d graph.Document
	for _, n := range nodes {
		d.Nodes = append(d.Nodes, json.RawMessage(n))
	}
	if len(nodes) > 1 {
		d.Edges = []json.RawMessage{json.RawMessage(`{"id":"e","source":"a","target":"b","data":{"label":"on","alwaysPick":true}}`)}
	}
	c := byModel(ours.String(), "")
	c.Task, c.FirstSentence = callsoas.OptString{}, callsoas.OptString{}
	c.PathwayID = callsoas.NewOptString(s.Publish(t, d))
	return c
}

// checkRefused checks the record and the log of a call whose model refused its key.
func checkRefused(t *testing.T, s *server.Server, r *callsoas.CallRecord) {
	t.Helper()
	said := lines(r, callsoas.TranscriptLineUserAssistant)
	if r.Status != callsoas.CallStatusFailed || !strings.Contains(r.ErrorMessage.Value, keyRefused) || r.Model.Value != "stern" ||
		len(said) == 0 || said[len(said)-1] != apology {
		t.Errorf("status %s, error %q, model %s, said %q", r.Status, r.ErrorMessage.Value, r.Model.Value, said)
	}
	found := false
	for line := range strings.SplitSeq(s.Log(), "\n") {
		found = found || strings.Contains(line, keyRefused) && strings.Contains(line, r.CallID)
	}
	if !found {
		t.Errorf("the log has no line with the call %s and %q", r.CallID, keyRefused)
	}
}

// checkRefusedInbound has a phone dial a number whose model refuses its key, and checks the record and the apology. The agent has no first
// sentence.
func checkRefusedInbound(t *testing.T, s *server.Server, phone *baresip.Phone, number string) {
	t.Helper()
	s.AttachInbound(t, number, "127.0.0.1")
	update, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		Prompt: agentsoas.NewOptNilString("Talk to the caller."), Voice: agentsoas.NewOptNilString(agentVoice),
		Model: agentsoas.NewOptNilString("strict"),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: number})
	if err != nil || len(update.FailedUpdates) > 0 {
		t.Fatalf("giving the number an agent: %+v, %v", update, err)
	}
	phone.Dial(t, s.Number(number))
	phone.AwaitReceived(t, "BYE ")
	for _, c := range s.Calls(t) {
		if c.Inbound {
			checkRefused(t, s, s.Ended(t, c.CallID))
		}
	}
	checkSaid(t, phone.Heard(t), agentVoice, apology)
}

// checkRefusals checks that one issue lists both calls whose model refused its key, and that neither the issue nor the log contains the
// key.
func checkRefusals(t *testing.T, s *server.Server, key string) {
	t.Helper()
	await.That(t, "an issue with both calls", func() bool {
		issues := s.Issues(t)
		return len(issues) == 1 && issues[0].ResourceCount == 2
	})
	issue := s.Issues(t)[0]
	feed, err := json.Marshal(s.Activity(t, issue.ID))
	if err != nil || issue.Title != "Calls fail: "+keyRefused {
		t.Errorf("the issue is %q, %v", issue.Title, err)
	}
	if !strings.Contains(string(feed), keyRefused) || strings.Contains(string(feed), "internal error") || strings.Contains(string(feed)+s.Log(), key) {
		t.Errorf("the feed is %s", feed)
	}
}

// checkNamed places a call with a model that the call names, and a call with models that the nodes of its pathway name.
func checkNamed(t *testing.T, s *server.Server, phone *baresip.Phone) {
	t.Helper()
	byCall := s.Call(t, byModel(ours.String(), "near"))
	says(t, s, byCall, greeting)
	phone.Press(t, "9")
	if r := s.Ended(t, byCall); r.Status != callsoas.CallStatusCompleted || r.Model.Value != "large" ||
		!strings.Contains(r.ConcatenatedTranscript, "This is the large model.") {
		t.Errorf("status %s, model %s, said\n%s", r.Status, r.Model.Value, r.ConcatenatedTranscript)
	}
	r := s.Ended(t, s.Call(t, byPathway(t, s,
		`{"id":"a","type":"Default","data":{"isStart":true,"prompt":"Talk.","modelOptions":{"modelName":"near","skipUserResponse":true}}}`,
		`{"id":"b","type":"End Call","data":{"prompt":"Say goodbye."}}`)))
	if said := strings.Join(lines(r, callsoas.TranscriptLineUserAssistant), " "); said != "This is the large model. This is the small model." {
		t.Errorf("the pathway said %q: %s %s", said, r.Status, r.ErrorMessage.Value)
	}
}
