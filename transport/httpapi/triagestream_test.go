package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// client reads an event stream over a real connection. leave disconnects it.
type client struct {
	t     *testing.T
	lines *bufio.Scanner
	leave context.CancelFunc
}

// event is a server-sent event, or a comment.
type event struct{ id, name, data, comment string }

// stream opens the stream of an issue's feed, and reads its first event.
func (h *house) stream(server *httptest.Server, issue, query, lastEventID string) (client, event) {
	h.t.Helper()
	ctx, leave := context.WithTimeout(h.t.Context(), 20*time.Second)
	h.t.Cleanup(leave)
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/triage/issues/"+issue+"/activity/stream"+query, nil))
	r.Header.Set("Authorization", "Bearer "+h.key)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" ||
		answer.Header.Get("Cache-Control") != "private, no-store" || answer.Header.Get("X-Request-ID") == "" {
		h.t.Fatalf("the stream begins with %d %v", answer.StatusCode, answer.Header)
	}
	c := client{h.t, bufio.NewScanner(answer.Body), leave}
	c.lines.Buffer(nil, 1<<20)
	first, ok := c.next()
	if !ok || first.comment == "" || first.id == "" || first.data != "" {
		h.t.Fatalf("the first event is %+v", first)
	}
	return c, first
}

// next reads the next event. ok is false after the end of the stream.
func (c client) next() (e event, ok bool) {
	c.t.Helper()
	for c.lines.Scan() {
		name, value, found := strings.Cut(c.lines.Text(), ": ")
		switch {
		case c.lines.Text() == "":
			return e, true
		case !found:
			c.t.Errorf("the line %q", c.lines.Text())
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data = value
		case name == "":
			e.comment = value
		}
	}
	if err := c.lines.Err(); err != nil {
		c.t.Error(err)
	}
	return e, false
}

// entry reads the next event, which must be an entry, and decodes the entry.
func (c client) entry() (e event, entry map[string]any) {
	c.t.Helper()
	e, ok := c.next()
	if err := json.Unmarshal([]byte(e.data), &entry); !ok || e.name != "entry" || e.id == "" || err != nil {
		c.t.Fatalf("the event is %+v: %v", e, err)
	}
	return e, entry
}

// TestStream checks that a client receives each entry of a feed once and in order, even if it reconnects with an event id or a cursor. The
// stream must end when the service closes.
func TestStream(t *testing.T) {
	t.Parallel()
	h := open(t)
	server := httptest.NewServer(h)
	defer server.Close()
	id := h.issue()
	say := func(words string) {
		t.Helper()
		h.data(http.StatusCreated, "POST", "/"+id+"/comments", `{"detail":"`+words+`"}`)
	}
	c, begin := h.stream(server, id, "", "")
	say("one\\ntwo")
	first, entry := c.entry()
	if want := at(t, h.data(http.StatusOK, "GET", "/"+id+"/activity", ""), "items", 0); !reflect.DeepEqual(entry, want) {
		t.Errorf("streamed %v, want %v", entry, want)
	}
	h.data(http.StatusCreated, "POST", "/"+id+"/agent-sessions", `{"agent_name":"Log reader"}`)
	if _, entry = c.entry(); entry["type"] != "session_started" || entry["entry_kind"] != "agent" {
		t.Errorf("streamed %v", entry)
	}
	path, _ := h.session(id)
	c.entry()
	h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"artifact","artifact":{"type":"t","title":"t","payload":{"a":[1,`+
		"\r\n\r\n"+`2]}}}`)
	if _, entry = c.entry(); !reflect.DeepEqual(at(t, entry, "artifact", "payload", "a"), []any{1.0, 2.0}) {
		t.Errorf("streamed %v", entry)
	}
	c.leave()
	say("three")

	read := func(query, lastEventID, want string) client {
		t.Helper()
		c, _ := h.stream(server, id, query, lastEventID)
		for detail := range strings.SplitSeq(want, ",") {
			if _, entry := c.entry(); entry["detail"] != detail {
				t.Errorf("%s, %s: got %v, want %s", query, lastEventID, entry["detail"], detail)
			}
		}
		return c
	}
	read("", first.id, ",Looking.,,three")
	read("?cursor="+first.id, "", ",Looking.,,three")
	read("?cursor="+first.id, begin.id, "one\ntwo,,Looking.,,three")
	oldest := h.data(http.StatusOK, "GET", "/"+id+"/activity?limit=2", "")["next_cursor"].(string) // a cursor of the feed
	last := read("?cursor="+oldest, "", "three")
	h.refused(http.StatusBadRequest, "bad_request", "cursor", "GET", "/"+id+"/activity/stream?cursor="+oldest, "", header{"Last-Event-ID", "x"})

	h.triage.Close()
	if e, ok := last.next(); ok {
		t.Errorf("after the end: %+v", e)
	}
	h.refused(http.StatusServiceUnavailable, "service_unavailable", "", "GET", "/"+id+"/activity/stream", "")
}

// timed is a recorder that stores its write deadline.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetWriteDeadline(until time.Time) error {
	w.until = until
	return nil
}

// TestAnswersMustBeTaken checks the time limit of a client that does not read a JSON answer. Each answer on the same connection must have
// its own limit, or none if it has no body.
func TestAnswersMustBeTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		issue, _ := h.quietIssue()
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		for _, one := range []struct {
			method, path string
			status       int
			within       time.Duration
		}{{"GET", "", http.StatusOK, time.Minute}, {"PUT", "/view", http.StatusNoContent, 0}, {"GET", "/none", http.StatusNotFound, time.Minute}} {
			w.ResponseRecorder = httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), one.method, "/v1/triage/issues/"+issue+one.path, nil)
			r.Header.Set("Authorization", h.key)
			h.ServeHTTP(w, r)
			if w.Code != one.status || one.within == 0 != w.until.IsZero() || one.within > 0 && !w.until.Equal(time.Now().Add(one.within)) {
				t.Errorf("%s %s: %d, to be taken by %v", one.method, one.path, w.Code, w.until)
			}
		}
	})
}

// tape is a recorder that can be read while it is written.
type tape struct {
	httptest.ResponseRecorder
	mu sync.Mutex
}

func newTape() *tape { return &tape{ResponseRecorder: *httptest.NewRecorder()} }

func (w *tape) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ResponseRecorder.Write(p)
}

// take returns the output since the previous call.
func (w *tape) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.Body.Reset()
	return w.Body.String()
}

// follow starts a stream that writes to w. leave disconnects its client, and ended is set when the stream ends. follow must be called in a
// synctest bubble.
func (h *house) follow(issue string, w http.ResponseWriter) (leave context.CancelFunc, ended *atomic.Bool) {
	h.t.Helper()
	ctx, leave := context.WithCancel(h.t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/triage/issues/"+issue+"/activity/stream", nil)
	r.Header.Set("Authorization", h.key)
	ended = new(atomic.Bool)
	go func() {
		h.ServeHTTP(w, r)
		ended.Store(true)
	}()
	synctest.Wait()
	return leave, ended
}

// quietIssue creates an issue, and returns a function that comments on it. It calls the service directly, because the contract's validator
// must not run in a synctest bubble.
func (h *house) quietIssue() (issue string, comment func()) {
	by := triage.Actor{Kind: triage.ActorUser, ID: "ada", Label: "Ada"}
	i := must(h.triage.Create(h.t.Context(), h.org, by, triage.Draft{Title: "x"}))
	return i.ID, func() { must(h.triage.Comment(h.t.Context(), h.org, by, i.ID, triage.CommentDraft{Detail: "x"})) }
}

func TestStreamBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		issue, comment := h.quietIssue()
		answer := newTape()
		leave, ended := h.follow(issue, answer)
		begin := answer.take()
		if !strings.HasPrefix(begin, ": ") || !answer.Flushed {
			t.Errorf("the stream begins with %q", begin)
		}
		after := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := answer.take(); got != want {
				t.Errorf("after %s: %q, want %q", d, got, want)
			}
		}
		after(14*time.Second, "")
		after(time.Second, ":\n\n")
		after(10*time.Second, "")
		comment()
		synctest.Wait()
		if got := answer.take(); !strings.Contains(got, "event: entry\ndata: {") || !strings.HasSuffix(got, "}\n\n") {
			t.Errorf("the comment comes as %q", got)
		}
		after(14*time.Second, "")
		after(time.Second, ":\n\n")
		leave()
		synctest.Wait()
		if !ended.Load() {
			t.Error("the stream goes on without its client")
		}
	})
}

func TestStreamEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		issue, _ := h.quietIssue()
		leave, ended := h.follow(issue, httptest.NewRecorder())
		defer leave()
		time.Sleep(15*time.Minute - time.Millisecond)
		synctest.Wait()
		if ended.Load() {
			t.Error("the stream has ended early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !ended.Load() {
			t.Error("the stream has not ended")
		}
	})
}

// sluggish is the connection of a client that reads only the first write. Later writes fail at their deadline.
type sluggish struct {
	tape
	writes   int
	deadline time.Time
}

func (s *sluggish) SetWriteDeadline(deadline time.Time) error {
	s.deadline = deadline
	return nil
}

func (s *sluggish) Write(p []byte) (int, error) {
	if s.writes++; s.writes == 1 {
		return s.tape.Write(p)
	}
	time.Sleep(time.Until(s.deadline))
	return 0, os.ErrDeadlineExceeded
}

func TestStreamToWhoDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		issue, comment := h.quietIssue()
		connection := &sluggish{tape: tape{ResponseRecorder: *httptest.NewRecorder()}}
		leave, ended := h.follow(issue, connection)
		defer leave()
		comment()
		time.Sleep(10*time.Second - time.Millisecond)
		synctest.Wait()
		if ended.Load() {
			t.Error("the client had no time to read")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !ended.Load() || connection.writes != 2 || !connection.deadline.Equal(time.Now().Add(10*time.Second)) {
			t.Errorf("the stream goes on: %+v", connection)
		}
	})
}

func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	h := open(t).again(func(c *triage.Config) { c.Watchers = 1 })
	server := httptest.NewServer(h)
	defer server.Close()
	id := h.issue()
	c, _ := h.stream(server, id, "", "")
	h.refused(http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "", "GET", "/"+id+"/activity/stream", "")
	if retry := h.do("GET", "/v1/triage/issues/"+id+"/activity/stream", "").Header().Get("Retry-After"); retry != "5" {
		t.Errorf("Retry-After: %q", retry)
	}
	c.leave()
	left := time.Now().Add(10 * time.Second)
	for h.try(id) == http.StatusTooManyRequests { // the server notices the disconnect a moment later
		if time.Now().After(left) {
			t.Fatal("the place of a client that has gone is not free again")
		}
	}
}

// try requests a stream, disconnects immediately, and returns the status.
func (h *house) try(issue string) int {
	ctx, leave := context.WithCancel(h.t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/triage/issues/"+issue+"/activity/stream", nil)
	r.Header.Set("Authorization", h.key)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code
}

// broken is a store whose feeds cannot be read in forward order.
type broken struct{ triagestore.Store }

func (broken) EntriesAfter(context.Context, callwright.OrgID, string, callwright.Keyset, int) ([]triage.Entry, error) {
	return nil, errors.New("the disk is gone")
}

// TestStreamThatBreaks checks that a stream whose store fails ends without an error in its body, because the answer has begun. The log must
// contain the error.
func TestStreamThatBreaks(t *testing.T) {
	t.Parallel()
	first := open(t)
	h := first.again(func(c *triage.Config) { c.Store = broken{triagestore.Store{Store: first.store}} })
	answer := h.do("GET", "/v1/triage/issues/"+h.issue()+"/activity/stream", "")
	if body := answer.Body.String(); answer.Code != http.StatusOK || strings.Contains(body, "disk") || strings.Contains(body, "errors") {
		t.Errorf("got %d %s", answer.Code, body)
	}
	if !strings.Contains(first.log.String(), "the disk is gone") {
		t.Errorf("the log has %s", first.log)
	}
}
