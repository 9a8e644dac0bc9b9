package page_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/transport/dashboard/page/pagetest"
)

// stream opens the live part of a page.
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

// TestCloseEndsStreams ends the site while a page is open.
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

// TestStreamsNeedASession asks for a stream without one.
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
