package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/node"
)

// head holds the status and the header of an answer.
type head struct {
	status int
	header http.Header
}

// events requests an event stream over a real connection. The client can read the stream only if the status is 200.
func (w *world) events(server *httptest.Server, target, lastEventID string) (client, head) {
	w.h.t.Helper()
	ctx, leave := context.WithTimeout(w.h.t.Context(), 20*time.Second)
	w.h.t.Cleanup(leave)
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/agent-testing"+w.fill(target)+"/events", nil))
	r.Header.Set("Authorization", w.key)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		w.h.t.Fatal(err)
	}
	w.h.t.Cleanup(func() { _ = answer.Body.Close() })
	c := client{w.h.t, bufio.NewScanner(answer.Body), leave}
	begins := head{answer.StatusCode, answer.Header}
	if answer.StatusCode != http.StatusOK {
		return c, begins
	}
	if answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Cache-Control") != "private, no-store" {
		w.h.t.Errorf("the stream begins with %v", answer.Header)
	}
	if first, ok := c.next(); !ok || first.comment == "" || first.id != "" || first.data != "" {
		w.h.t.Errorf("the first event is %+v", first)
	}
	return c, begins
}

// progress reads the next event, which must be a progress event, and returns its id and its decoded data.
func (c client) progress() (id string, shows map[string]any) {
	c.t.Helper()
	e, ok := c.next()
	if err := json.Unmarshal([]byte(e.data), &shows); !ok || e.name != "progress" || e.id == "" || err != nil {
		c.t.Fatalf("the event is %+v: %v", e, err)
	}
	return e.id, shows
}

// wantEnd checks that the stream has ended.
func (c client) wantEnd() {
	c.t.Helper()
	if e, ok := c.next(); ok {
		c.t.Errorf("after the end: %+v", e)
	}
}

// changeRun stores a change of a run, as the node that executes the run does.
func changeRun(w *world, id string, change func(*run.Run)) {
	w.h.t.Helper()
	r := must(w.h.testStore().Run(w.h.t.Context(), w.org, id))
	change(&r)
	if err := w.h.testStore().UpdateRuns(w.h.t.Context(), []run.Run{r}); err != nil {
		w.h.t.Fatal(err)
	}
}

// changeGroup stores a change of a batch or a simulation set.
func changeGroup(w *world, id string, change func(*group.Batch)) {
	w.h.t.Helper()
	b := must(w.h.testStore().Batch(w.h.t.Context(), w.org, id))
	change(&b)
	if err := w.h.testStore().UpdateBatch(w.h.t.Context(), b); err != nil {
		w.h.t.Fatal(err)
	}
}

func TestRunEvents(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	server := httptest.NewServer(h)
	defer server.Close()
	one := w.id("run")
	c, _ := w.events(server, "/runs/$run", "")
	first, shows := c.progress()
	like(t, shows, `{"id":"$run","status":"PENDING","turn_count":0,"duration_ms":0,"overall_score":null,"error_message":null,
		"started_at":null,"completed_at":null}`, "$run", one)
	changeRun(w, one, func(r *run.Run) { r.State, r.Node, r.StartedAt = run.Running, "n1", began })
	second, shows := c.progress()
	if shows["status"] != "RUNNING" || shows["started_at"] == nil || second == first {
		t.Errorf("then %s: %v", second, shows)
	}
	c.leave()
	changeRun(w, one, func(r *run.Run) {
		r.State, r.EndedAt = run.Passed, began.Add(time.Minute)
		r.Result = run.Result{Score: new(0.75), Turns: 4, Duration: 37750 * time.Millisecond}
	})

	c, _ = w.events(server, "/runs/$run", second) // the resumed stream continues without repetition
	last, shows := c.progress()
	like(t, shows, `{"id":"$run","status":"PASSED","turn_count":4,"duration_ms":37750,"overall_score":0.75,"error_message":null,
		"started_at":"$began","completed_at":"$ended"}`, "$run", one, "$began", shows["started_at"].(string), "$ended", shows["completed_at"].(string))
	c.wantEnd()
	if _, answer := w.events(server, "/runs/$run", last); answer.status != http.StatusNoContent || answer.header.Get("Content-Type") != "" {
		t.Errorf("with the final state: %d %v", answer.status, answer.header)
	}
	c, _ = w.events(server, "/runs/$run", "")
	if id, _ := c.progress(); id != last {
		t.Errorf("from the beginning: %s, want %s", id, last)
	}
	c.wantEnd()
	testError(w, 400, "BAD_REQUEST", "cursor", "GET", "/runs/$run/events?cursor=1", "")
	h.key = strings.TrimPrefix(w.key, "Bearer ")
	refused := h.want(http.StatusBadRequest, "GET", w.fill("/v1/agent-testing/runs/$run/events"), "", header{"Last-Event-ID", "x"})
	if at(t, refused, "errors", 0, "path") != "Last-Event-ID" {
		t.Errorf("an id of no event: %v", refused)
	}
}

func TestGroupEvents(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	server := httptest.NewServer(h)
	defer server.Close()
	for kind, target := range map[string]string{"batch": "/batches/$batch", "set": "/simulation-sets/$set"} {
		id := w.id(kind)
		total := map[string]string{"batch": "1", "set": "2"}[kind]
		c, _ := w.events(server, target, "")
		_, shows := c.progress()
		like(t, shows, `{"id":"$id","status":"PENDING","total_runs":`+total+`,"passed_runs":0,"failed_runs":0,"error_runs":0,"cancelled_runs":0,
			"stop_reason":null,"completed_at":null}`, "$id", id)
		changeGroup(w, id, func(b *group.Batch) {
			b.State, b.Counts, b.Cancel, b.Reason = run.Running, group.Counts{Failed: 1}, true, group.StoppedByBudget
		})
		seen, shows := c.progress()
		if shows["status"] != "RUNNING" || shows["failed_runs"] != 1.0 || shows["stop_reason"] != "budget" {
			t.Errorf("%s: then %v", kind, shows)
		}
		c.leave()
		changeGroup(w, id, func(b *group.Batch) { b.State, b.EndedAt = run.Failed, began })
		c, _ = w.events(server, target, seen)
		last, shows := c.progress()
		if shows["status"] != "FAILED" || shows["completed_at"] == nil {
			t.Errorf("%s: at the end %v", kind, shows)
		}
		c.wantEnd()
		if _, answer := w.events(server, target, last); answer.status != http.StatusNoContent {
			t.Errorf("%s, with the final state: %d", kind, answer.status)
		}
	}
}

// TestTestEventsAreRefused checks the errors for streams of absent objects, streams of another organization's objects, streams beyond the
// limit, and streams from a server that stops.
func TestTestEventsAreRefused(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	server := httptest.NewServer(h)
	defer server.Close()
	stranger := (&worlds{h: h, count: 1}).next()
	targets := map[string]string{"run": "/runs/", "batch": "/batches/", "set": "/simulation-sets/"}
	open := map[string]client{}
	for kind, target := range targets {
		testError(w, 404, "NOT_FOUND", "", "GET", target+"nothing/events", "")
		testError(stranger, 404, "NOT_FOUND", "", "GET", target+w.id(kind)+"/events", "")
		open[kind], _ = w.events(server, target+w.id(kind), "")
		open[kind].progress()
	}
	var more []*node.RecordWatcher[run.Run]
	for range run.MaxWatchers - len(open) {
		more = append(more, must(h.areas.tests.WatchRun(t.Context(), w.org, w.id("run"), 0)))
	}
	for kind, target := range targets {
		testError(w, 429, "TOO_MANY_REQUESTS", "", "GET", target+w.id(kind)+"/events", "")
		if _, answer := w.events(server, target+w.id(kind), ""); answer.header.Get("Retry-After") != "5" {
			t.Errorf("Retry-After: %v", answer.header)
		}
	}
	more[0].Close()
	c, _ := w.events(server, "/runs/$run", "")
	c.progress()
	open["again"] = c
	h.areas.tests.Close()
	for _, c := range open {
		c.wantEnd()
	}
	for kind, target := range targets {
		testError(w, 503, "SERVICE_UNAVAILABLE", "", "GET", target+w.id(kind)+"/events", "")
	}
}

// TestTestStreamOfWhatIsDeleted checks that the stream of a run ends when its scenario is deleted.
func TestTestStreamOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	h, w := tested(t)
	server := httptest.NewServer(h)
	defer server.Close()
	c, _ := w.events(server, "/runs/$run", "")
	c.progress()
	w.do(200, "DELETE", "/v1/agent-testing/scenarios/$scenario", "")
	c.wantEnd()
}
