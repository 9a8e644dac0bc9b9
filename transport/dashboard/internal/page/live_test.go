package page_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// stream opens the stream of a page. It returns two functions: next returns the first line of the following part or reload event, or "" at
// the end of the stream, and leave closes the stream.
func (h *house) stream(t *testing.T, path string) (next func() string, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	a, err := h.client.Do(r) //nolint:bodyclose // leave closes it
	if err != nil {
		t.Fatal(err)
	}
	if a.StatusCode != http.StatusOK {
		t.Fatalf("the stream is answered %d", a.StatusCode)
	}
	lines := bufio.NewScanner(a.Body)
	return func() string {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: <") || strings.HasPrefix(lines.Text(), "event: reload") {
				return lines.Text()
			}
		}
		return ""
	}, func() { cancel(); _ = a.Body.Close() }
}

func TestLive(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	first, leaveFirst := h.stream(t, "/things")
	second, leaveSecond := h.stream(t, "/things")
	defer leaveSecond()
	for n := range 3 {
		h.number.Store(int64(n))
		want := fmt.Sprintf(`data: <p id="live-number">%d</p>`, n)
		for name, next := range map[string]func() string{"first": first, "second": second} {
			if got := next(); got != want {
				t.Errorf("the %s stream shows %s, want %s", name, got, want)
			}
		}
	}
	leaveFirst()
	h.number.Store(7)
	if got := second(); !strings.Contains(got, "7") {
		t.Errorf("after the first has left, the second shows %s", got)
	}
}

// TestCloseEndsStreams checks that Site.Close ends an open stream.
func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	next, leave := h.stream(t, "/things")
	defer leave()
	next()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.site.Close(ctx); err != nil {
		t.Error(err)
	}
	if got := next(); got != "" {
		t.Errorf("after its end the stream shows %s", got)
	}
}

// TestStreamsNeedASession checks that a stream without a session is refused with status 401, not with a redirect to the sign-in page.
func TestStreamsNeedASession(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/things", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if a := pagetest.Do(t, h.client, r); a.Status != http.StatusUnauthorized {
		t.Errorf("it is answered %d", a.Status)
	}
}

// TestLeaveWhileRendering checks that a rendering is canceled when its only browser disconnects.
func TestLeaveWhileRendering(t *testing.T) {
	t.Parallel()
	rendering, left := make(chan struct{}), make(chan struct{})
	site, err := page.New(page.Config{Authenticator: anybody{}, Areas: []page.Area{{
		Path: "/slow", Templates: templates, Routes: []page.Route{{Pattern: "GET /slow", Serve: func(ctx context.Context, _ *page.Request) (page.Answer, error) {
			close(rendering)
			<-ctx.Done()
			close(left)
			return nil, ctx.Err()
		}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/slow", http.NoBody)
	r.Header.Set("Accept", "text/event-stream")
	served := make(chan struct{})
	go func() {
		site.ServeHTTP(httptest.NewRecorder(), r)
		close(served)
	}()
	<-rendering
	leave()
	<-left
	<-served
	if err := site.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// anybody is an Authenticator that identifies every request as the same user.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "key-1"}, nil
}

func TestPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads, failed := 0, errors.New("the database is away")
		read := func(context.Context) (string, error) {
			if reads++; reads == 6 {
				return "", failed
			}
			return []string{"new", "old", "old", "new"}[reads%4], nil
		}
		begin := time.Now()
		if err := page.Poll("old", read)(t.Context()); err != nil || reads != 3 || time.Since(begin) != 3*page.LiveEvery {
			t.Errorf("a change was seen after %d reads and %v: %v", reads, time.Since(begin), err)
		}
		reads = 4
		if err := page.Poll("old", read)(t.Context()); !errors.Is(err, failed) {
			t.Errorf("a failed read gives %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), page.LiveEvery/2)
		defer cancel()
		if err := page.Poll("old", read)(ctx); !errors.Is(err, context.DeadlineExceeded) || reads != 6 {
			t.Errorf("the end of the context gives %v after %d reads", err, reads-6)
		}
	})
}
