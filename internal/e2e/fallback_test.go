package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// fragile serves language models that say their names and report 1000 tokens read and 100 written. The model "first" sends nothing after the
// caller has pressed 1, and answers 503 after the caller has pressed 2. All models end the call after the caller has pressed 9.
type fragile struct {
	mu  sync.Mutex
	got []string    // model and pressed key of each request
	at  []time.Time // times of these requests
}

// keys are the ends of messages that stand for pressed keys.
var keys = []string{"pressed 1", "pressed 2", "pressed 3", "pressed 9"}

func (f *fragile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a struct {
		asked
		Model string `json:"model"`
	}
	err := json.NewDecoder(r.Body).Decode(&a)
	_, _ = io.Copy(io.Discard, r.Body) // otherwise the request's context would not end with the connection
	if err != nil || len(a.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	said := a.Messages[len(a.Messages)-1].Content
	key := keys[max(0, slices.IndexFunc(keys, func(k string) bool { return strings.Contains(said, k) }))]
	f.mu.Lock()
	f.got, f.at = append(f.got, a.Model+" "+key), append(f.at, time.Now())
	f.mu.Unlock()
	switch {
	case a.Model == "first" && key == "pressed 1":
		<-r.Context().Done()
		return
	case a.Model == "first" && key == "pressed 2":
		http.Error(w, `{"error":{"message":"overloaded","type":"server_error"}}`, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"This is the %s model."}}]}`+"\n\n", a.Model)
	if key == "pressed 9" {
		_, _ = fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}}]}`+"\n\n")
	}
	_, _ = fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}`+"\n\ndata: [DONE]\n\n")
}

// asked returns the requests so far.
func (f *fragile) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// prices is the table of prices of the fragile models, in dollars per million tokens.
const prices = `{"date":"2026-11-27","source":"this test","currency":"USD","models":{"first":{"input":"1","output":"2"},
	"second":{"input":"10","output":"20"},"third":{"input":"100","output":"200"}}}`

// TestFallbackCall places a call whose model hangs in one turn and answers 503 in another. The fallback that the call names must reply in
// both turns, and the model itself in the turn after them. The record and the page of the call must name both models, the cause and the
// cost. In a call that names no fallback, the server's fallback must reply.
func TestFallbackCall(t *testing.T) {
	t.Parallel()
	models := new(fragile)
	service := httptest.NewServer(models)
	t.Cleanup(service.Close)
	table := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(table, []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--llm-base-url", service.URL+"/v1", "--llm-model", "first", "--llm-models", "near=second,far=third",
		"--llm-fallback", "far", "--llm-prices", table)
	s.AttachOutbound(t, ours.String(), phone.Server())

	request := byModel(ours.String(), "")
	request.FallbackModel = callsoas.NewOptString("near")
	id := s.Call(t, request)
	says(t, s, id, greeting)
	for turn, key := range []string{"1", "2", "3"} {
		phone.Press(t, key)
		s.Until(t, id, "to have an answer to "+key, func(r *callsoas.CallRecord) bool {
			return r.Completed || len(lines(r, callsoas.TranscriptLineUserAssistant)) == turn+2
		})
	}
	phone.Press(t, "9")
	r := s.Ended(t, id)
	const first, second, third = "This is the first model.", "This is the second model.", "This is the third model."
	if said := lines(r, callsoas.TranscriptLineUserAssistant); r.Status != callsoas.CallStatusCompleted || r.Model.Value != "first" ||
		!slices.Equal(said, []string{greeting, second, second, first, first}) {
		t.Errorf("status %s, error %q, model %s, said %q", r.Status, r.ErrorMessage.Value, r.Model.Value, said)
	}
	if got := models.asked(); !slices.Equal(got, []string{
		"first pressed 1", "second pressed 1", "first pressed 2", "second pressed 2", "first pressed 3", "first pressed 9",
	}) {
		t.Errorf("the models were asked %q", got)
	} else {
		t.Logf("the second model was asked %v and %v after the first one", models.at[1].Sub(models.at[0]), models.at[3].Sub(models.at[2]))
	}
	const own, replacing = "first x2, 2000 and 200 tokens, $0.0024", "second for first (transient) x2, 2000 and 200 tokens, $0.024"
	if uses := usesOf(r.Models); !slices.Equal(slices.Sorted(slices.Values(uses)), []string{own, replacing}) || r.Cost.Value != 0.0264 {
		t.Errorf("the record has the models %q, cost %v", uses, r.Cost)
	}
	for turn, want := range map[int]string{2: "second for first (transient)", 3: "second for first (transient)", 4: "first", 5: "first"} {
		i := slices.IndexFunc(r.TurnModels, func(m callsoas.CallTurnModels) bool { return m.Turn == turn })
		if i < 0 || len(r.TurnModels[i].Models) != 1 || !strings.HasPrefix(usesOf(r.TurnModels[i].Models)[0], want+" x1, ") {
			t.Errorf("turn %d is not by %s: %+v", turn, want, r.TurnModels)
		}
	}

	byDefault := s.Call(t, byModel(ours.String(), ""))
	says(t, s, byDefault, greeting)
	phone.Press(t, "2")
	says(t, s, byDefault, third)
	phone.Hangup(t)
	if uses := usesOf(s.Ended(t, byDefault).Models); !slices.Equal(uses, []string{"third for first (transient) x1, 1000 and 100 tokens, $0.12"}) {
		t.Errorf("the record of the call without a fallback of its own has the models %q", uses)
	}

	p := signIn(t, s)
	p.Go(t, s.Dashboard+"/calls/"+id)
	for _, text := range []string{"second in place of first (it did not answer)", "$0.0024", "$0.024", "Together they cost $0.0264"} {
		if !reads(t, p, "main", text) {
			t.Errorf("the page of the call does not contain %q", text)
		}
	}
	await.That(t, "the costs in the metrics", func() bool {
		_, body := s.Get(t, "/metrics")
		return strings.Contains(body, `callwright_model_cost_dollars_total{model="second"} 0.024`)
	})
}

// usesOf returns uses of models in a readable form.
func usesOf(uses []callsoas.ModelUse) (texts []string) {
	for _, u := range uses {
		text := u.Model
		if !u.Replaced.Null {
			text += " for " + u.Replaced.Value + " (" + u.Cause.Value + ")"
		}
		texts = append(texts, fmt.Sprintf("%s x%d, %d and %d tokens, $%v", text, u.Requests-u.Failed, u.InputTokens, u.OutputTokens, u.Cost.Value))
	}
	return texts
}
