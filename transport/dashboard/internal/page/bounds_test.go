package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reader is the http.ResponseWriter of a browser's stream. If stuck is set, every write blocks until its deadline and then fails.
type reader struct {
	stuck bool
	ended chan struct{} // closed when the stream has ended

	mu       sync.Mutex
	header   http.Header
	deadline time.Time
	got      strings.Builder
	writes   int
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(int)     {}
func (r *reader) Flush()              {}

func (r *reader) SetWriteDeadline(at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadline = at
	return nil
}

func (r *reader) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	if r.stuck {
		time.Sleep(time.Until(r.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	return r.got.Write(b)
}

// text returns everything that was written so far.
func (r *reader) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.String()
}

// watch opens the stream of a page with a session token, and waits until the stream is idle.
func (h *house) watch(ctx context.Context, t *testing.T, path, token string) *reader {
	t.Helper()
	w := &reader{header: http.Header{}, ended: make(chan struct{})}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/event-stream")
	r.AddCookie(&http.Cookie{Name: "callwright_session", Value: token})
	go func() {
		defer close(w.ended)
		h.site.ServeHTTP(w, r)
	}()
	synctest.Wait()
	return w
}

// over waits until all goroutines are idle and reports whether the stream has ended.
func (r *reader) over() bool {
	synctest.Wait()
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// bubble runs a test in fake time with a new site and the token of a session.
func bubble(t *testing.T, test func(ctx context.Context, t *testing.T, h *house, token string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newSite(t, "")
		token, _, err := h.keys.SignIn(t.Context(), goodKey)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		test(ctx, t, h, token)
		cancel()
		if err := h.site.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestRevokedKeyEndsStream checks that a stream ends within 15 seconds after another node has revoked its key.
func TestRevokedKeyEndsStream(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		w := h.watch(ctx, t, "/things", token)
		time.Sleep(time.Minute)
		if w.over() {
			t.Fatalf("the stream has ended after\n%s", w.text())
		}
		h.keys.mu.Lock()
		h.keys.revoked = true
		h.keys.mu.Unlock()
		time.Sleep(15 * time.Second)
		if !w.over() || !strings.HasSuffix(w.text(), "event: reload\ndata:\n\n") {
			t.Errorf("15 s after the revocation the stream goes on with\n%s", w.text())
		}
	})
}

// TestWithdrawnEntitlementEndsStream checks that the streams of an organization end within 15 seconds after it has lost an entitlement.
func TestWithdrawnEntitlementEndsStream(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		h.keys.sip = true
		w, other := h.watch(ctx, t, "/secret", token), h.watch(ctx, t, "/things", token) // /things may show less without the entitlement
		time.Sleep(time.Minute)
		if w.over() || other.over() {
			t.Fatalf("the stream has ended after\n%s%s", w.text(), other.text())
		}
		h.keys.mu.Lock()
		h.keys.sip = false
		h.keys.mu.Unlock()
		if time.Sleep(15 * time.Second); !w.over() || !other.over() {
			t.Error("15 s after the withdrawal the streams go on")
		}
	})
}

// TestStreamOutlivesTheDatabase checks that a stream continues while the database of sessions is unreachable.
func TestStreamOutlivesTheDatabase(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		w := h.watch(ctx, t, "/things", token)
		h.keys.mu.Lock()
		h.keys.away = true
		h.keys.mu.Unlock()
		if time.Sleep(time.Minute); w.over() {
			t.Errorf("the stream has ended after\n%s", w.text())
		}
	})
}

// TestStreamLife checks that a stream ends after 15 minutes, so that the browser must reconnect.
func TestStreamLife(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		w := h.watch(ctx, t, "/things", token)
		time.Sleep(15*time.Minute - time.Second)
		if w.over() {
			t.Error("the stream has ended before its time")
		}
		if time.Sleep(time.Second); !w.over() {
			t.Error("the stream is older than 15 minutes")
		}
	})
}

// TestStuckReader checks that a stream ends if its browser reads nothing for 10 seconds. Until then the stream must write nothing more and
// must not delay another browser's stream.
func TestStuckReader(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		good, stuck := h.watch(ctx, t, "/things", token), h.watch(ctx, t, "/things", token)
		time.Sleep(time.Second) // until both streams have sent their first parts
		stuck.mu.Lock()
		stuck.stuck, stuck.writes = true, 0
		stuck.mu.Unlock()
		for n := range 100 {
			h.number.Store(int64(n))
			time.Sleep(50 * time.Millisecond)
		}
		if stuck.over() {
			t.Error("a browser has less than 10 s to read")
		}
		time.Sleep(5*time.Second + 100*time.Millisecond) // because the first change was sent a little after the loop began
		if !stuck.over() {
			t.Error("a browser that reads nothing is not dropped after 10 s")
		}
		if stuck.writes != 1 {
			t.Errorf("a browser that reads nothing was given %d parts, want 1", stuck.writes)
		}
		h.number.Store(1000)
		time.Sleep(time.Second)
		text := good.text()
		for _, n := range []int{0, 50, 99, 1000} {
			if want := fmt.Sprintf(`<p id="live-number">%d</p>`, n); good.over() || !strings.Contains(text, want) {
				t.Errorf("the other browser has no %s in\n%s", want, text)
			}
		}
	})
}
