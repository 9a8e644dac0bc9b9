package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/mailbox"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/portingoas"
)

// tenant is an organization with an API key, in addition to the server's first organization.
type tenant struct {
	t   *testing.T
	s   *server.Server
	key string
}

// ask sends a request, which must succeed. It returns a member of the answer's data, or of the answer if there is no data.
func (o tenant) ask(method, path, body, member string) string {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.s.URL+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", o.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil || res.StatusCode >= 300 {
		o.t.Fatalf("%s %s: %d, %v: %s", method, path, res.StatusCode, err, text)
	}
	if data, ok := got["data"].(map[string]any); ok {
		got = data
	}
	return fmt.Sprint(got[member])
}

// TestHangingTests starts 1,000 test runs of one organization, and the model does not answer their requests. While they hang, another
// organization's call must be placed, its webhook delivered, its letter mailed and its test run finished. The test logs the durations.
func TestHangingTests(t *testing.T) {
	t.Parallel()
	var hanging atomic.Int32
	over := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), "Hang.") {
			stream(w, `{"role":"assistant","content":"`+goodbye+`"}`,
				`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`)
			return
		}
		hanging.Add(1)
		defer hanging.Add(-1)
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(model.Close)
	t.Cleanup(func() { close(over) })
	ca, box := authority(t), mailbox.Start(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), append(portingFlags(box), "--llm-base-url", model.URL+"/v1", "--llm-model", "m")...)
	s.AttachOutbound(t, ours.String(), phone.Server())
	pathway := s.Publish(t, bookings("Goodbye."))
	scenario := gated(t, s, pathway, "Goodbye")
	bill := uploadBill(t, s)

	set := startHanging(t, s)
	await.That(t, "an organization's runs to hang", func() bool { return hanging.Load() >= 4 })
	began := time.Now()
	took := func(what string) {
		t.Logf("%d runs hang; %s after %v", hanging.Load(), what, time.Since(began).Round(time.Millisecond))
	}
	request := appointment()
	request.Task, request.FirstSentence = callsoas.NewOptString("Say goodbye."), callsoas.OptString{}
	var told <-chan []byte
	request.Webhook.Set = true
	request.Webhook.Value, told = hook(t, s)
	id := s.Call(t, request)
	run, err := s.API.StartTestRun(t.Context(), agenttestoas.OptTestRunStart{}, agenttestoas.StartTestRunParams{ID: scenario})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.API.InitiatePort(t.Context(), portOf(bill, "+14155550199"), portingoas.InitiatePortParams{}); err != nil {
		t.Fatal(err)
	}
	box.Await(t, signerMail, "sign or decline")
	took("the letter was mailed")
	if runs := runsOf(t, s, pathway, 1); runs[0].ID != run.Data.RunID || runs[0].Status != agenttestoas.TestRunStatusPASSED {
		t.Errorf("the run is %+v", runs[0])
	}
	took("the run of a test had passed")
	phone.Await(t, "CALL_ESTABLISHED", 1)
	took("the call was answered")
	if r := s.Ended(t, id); r.Status != callsoas.CallStatusCompleted {
		t.Errorf("the call ended as %s, %q", r.Status, r.ErrorMessage.Value)
	}
	took("the call had ended")
	var post callsoas.CallRecord
	if err := json.Unmarshal(<-told, &post); err != nil || post.CallID != id {
		t.Errorf("the webhook was told of %q, %v", post.CallID, err)
	}
	took("the webhook was told")
	if status := set(); status != "RUNNING" && status != "PENDING" {
		t.Errorf("meanwhile the runs are %s", status)
	}
}

// startHanging starts 1,000 hanging runs of a separate organization. status returns the status of their simulation set.
func startHanging(t *testing.T, s *server.Server) (status func() string) {
	t.Helper()
	org := administer(t, s, "orgs", "create", "Hangs").Organization.ID
	o := tenant{t, s, administer(t, s, "keys", "create", "ci", "--org", org).APIKey}
	pathway := o.ask(http.MethodPost, "/v1/pathway/create", `{"name":"Hangs"}`, "pathway_id")
	o.ask(http.MethodPost, "/v1/pathway/"+pathway+"/version", `{"name":"one","edges":[],
		"nodes":[{"id":"a","type":"Default","data":{"isStart":true,"prompt":"Hang."}}]}`, "version_number")
	var scenarios []string
	for i := range 5 {
		scenarios = append(scenarios, o.ask(http.MethodPost, "/v1/agent-testing/scenarios", fmt.Sprintf(`{"pathway_id":%q,"name":"Hangs %d",
			"scenario_type":"REPLAY","input_messages":[{"role":"user","content":"Tuesday."}],
			"assertions":[{"type":"STRING_CHECK","config":{"value":"x","operator":"contains"}}]}`, pathway, i), "id"))
	}
	ids, err := json.Marshal(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	set := o.ask(http.MethodPost, "/v1/agent-testing/simulation-sets",
		`{"scenario_ids":`+string(ids)+`,"simulations_per_scenario":200,"version_number":1}`, "simulation_set_id")
	return func() string { return o.ask(http.MethodGet, "/v1/agent-testing/simulation-sets/"+set, "", "status") }
}
