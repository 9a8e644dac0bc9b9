package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
)

// These constants are the answers of the models, and parts of the pathway and the scenario.
const (
	farewell = "Noted. See you on Tuesday."
	approval = `{"evidence":[],"reasoning":"The agent names the day.","verdict":"pass","failure_code":null}`

	asksDay      = `{"id":"ask","type":"Default","data":{"name":"Ask","isStart":true,"text":"Which day?"}}`
	confirmsDay  = `{"id":"bye","type":"End Call","data":{"name":"Bye","prompt":"Confirm the day."}}`
	toConfirmDay = `{"id":"1","source":"ask","target":"bye","data":{"alwaysPick":true}}`

	namesDay = `"name":"Names the day","scenario_type":"REPLAY","input_messages":[{"role":"user","content":"Tuesday."}],"assertions":[
		{"type":"STRING_CHECK","config":{"value":"See you","operator":"contains"}}`
	isJudged = `,{"type":"LLM_JUDGE","config":{"prompt":"The agent confirms the day.","output_type":"boolean","pass_on_true":true}}`
)

// faltering is the service of a language model that confirms the day and judges. From its 100th request on, it is down for 3 seconds: it
// first answers 503, and later refuses connections.
type faltering struct {
	t       *testing.T
	address string
	over    chan struct{} // closed when the service works again

	mu       sync.Mutex
	current  *http.Server
	requests int
	failed   int // requests that got 503
}

// newFaltering starts the service. It ends with the test.
func newFaltering(t *testing.T) *faltering {
	t.Helper()
	f := &faltering{t: t, address: "127.0.0.1:0", over: make(chan struct{})}
	if err := f.listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		_ = f.current.Close()
	})
	return f
}

// listen serves at f.address, which is the same address in later calls.
func (f *faltering) listen() error {
	l, err := new(net.ListenConfig).Listen(f.t.Context(), "tcp", f.address)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.address, f.current = l.Addr().String(), &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(l) }(f.current)
	return nil
}

// fail lets the service answer 503 for 0.4 seconds, refuse connections for 2.6 seconds, and then serve again. The client's first pause is
// longer than 0.4 seconds, so that its first retry is refused.
func (f *faltering) fail() {
	time.AfterFunc(400*time.Millisecond, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		_ = f.current.Close()
	})
	time.AfterFunc(3*time.Second, func() {
		await.Within(f.t.Context(), await.Limit, func() bool { return f.listen() == nil })
		close(f.over)
	})
}

// works counts a request and reports whether the service answers it.
func (f *faltering) works() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests++; f.requests == 100 {
		f.fail()
	}
	if f.requests < 100 {
		return true
	}
	select {
	case <-f.over:
		return true
	default:
		f.failed++
		return false
	}
}

func (f *faltering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch {
	case !f.works():
		http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
	case a.Stream:
		stream(w, fmt.Sprintf(`{"role":"assistant","content":%q}`, farewell))
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%q}}]}`, approval)
	}
}

// TestOutageOfModel runs a simulation set of 200 runs, during which the language model of agent and judge is down for 3 seconds. All runs
// must pass.
func TestOutageOfModel(t *testing.T) {
	t.Parallel()
	const runs = 200
	model := newFaltering(t)
	s := server.Start(t, server.Config{Flags: []string{"--llm-base-url", "http://" + model.address + "/v1", "--llm-model", "m"}})
	pathway := s.Publish(t, graph.Document{
		Nodes: []json.RawMessage{json.RawMessage(asksDay), json.RawMessage(confirmsDay)}, Edges: []json.RawMessage{json.RawMessage(toConfirmDay)},
	})
	var scenario agenttestoas.TestScenarioCreate
	if err := scenario.UnmarshalJSON([]byte(`{"pathway_id":"` + pathway + `",` + namesDay + isJudged + `]}`)); err != nil {
		t.Fatal(err)
	}
	made, err := s.API.CreateTestScenario(t.Context(), &scenario)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	set, err := s.API.CreateTestSet(t.Context(), &agenttestoas.TestSetStart{
		ScenarioIds: []string{made.Data.ID}, SimulationsPerScenario: agenttestoas.NewOptInt(runs),
	}, agenttestoas.CreateTestSetParams{})
	if err != nil {
		t.Fatal(err)
	}
	var got agenttestoas.TestSet
	await.That(t, "the set to end", func() bool {
		reply, err := s.API.GetTestSet(t.Context(), agenttestoas.GetTestSetParams{ID: set.Data.SimulationSetID})
		if err != nil {
			t.Fatal(err)
		}
		got = reply.Data
		return got.Status != agenttestoas.TestRunStatusPENDING && got.Status != agenttestoas.TestRunStatusRUNNING
	})
	stats := got.Statistics.Overall
	if got.Status != agenttestoas.TestRunStatusPASSED || stats.TotalRuns != runs || stats.ErrorRuns != 0 || stats.AvgPassRate.Value != 1 {
		t.Errorf("the set is %s: %+v", got.Status, stats)
	}
	took, failed := time.Since(began), int(s.Metric(t, `callwright_model_requests_total{model="m",result="transient"}`))
	model.mu.Lock()
	defer model.mu.Unlock()
	t.Logf("%d runs in %v, %d requests failed, %d of them with 503", stats.TotalRuns, took, failed, model.failed)
	if model.failed == 0 || failed <= model.failed || model.requests-model.failed < 2*runs {
		t.Errorf("%d requests were answered; %d failed, %d of them with 503", model.requests-model.failed, failed, model.failed)
	}
}

// TestRateLimitsOfAIMock has the command line run 60 tests against a mock by others that refuses 30 of 100 requests with 429. All runs must
// pass. Each run asks the model once, because each refusal holds all requests back for a second, as the mock demands.
func TestRateLimitsOfAIMock(t *testing.T) {
	t.Parallel()
	const runs = 60
	fixtures := fmt.Sprintf(`{"fixtures":[{"match":{"userMessage":"Tuesday."},"response":{"content":%q}}]}`, farewell)
	mock := enginetest.StartAIMock(t, []byte(fixtures), "--chaos-ratelimit", "0.3")
	folder := t.TempDir()
	pathway, scenario := filepath.Join(folder, "pathway.json"), filepath.Join(folder, "scenario.json")
	for name, text := range map[string]string{
		pathway: `{"nodes":[` + asksDay + `,` + confirmsDay + `],"edges":[` + toConfirmDay + `]}`, scenario: `{` + namesDay + `]}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := server.Command(t)
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), command, "test", scenario, "--pathway", pathway, "--runs", strconv.Itoa(runs),
		"--parallel", "16", "--format", "json", "--llm-base-url", mock+"/v1", "--llm-model", "m")
	cmd.Env = []string{}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	var report struct {
		Scenarios []struct {
			Total  int `json:"total_runs"`
			Passed int `json:"passed"`
			Errors int `json:"errors"`
		} `json:"scenarios"`
	}
	if err := errors.Join(err, json.Unmarshal(out, &report)); err != nil {
		t.Fatalf("%v: %s\n%s", err, said.String(), out)
	}
	if n := report.Scenarios; len(n) != 1 || n[0].Total != runs || n[0].Passed != runs || n[0].Errors != 0 {
		t.Errorf("the report says %+v", n)
	}
	refused := entries(t, mock, "?status=429")
	t.Logf("%d runs in %v, %d requests, %d of them answered with 429", runs, time.Since(began), entries(t, mock, ""), refused)
	if refused == 0 {
		t.Error("the mock refused no request")
	}
}

// entries returns the number of entries in the journal of a mock, which a query selects.
func entries(t *testing.T, mock, query string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, mock+"/__aimock/journal"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	n, err := strconv.Atoi(answer.Header.Get("X-Total-Count"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
