package page_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// one returns a site with a single page, and the buffer that collects its log.
func one(t *testing.T, route page.Route) (*page.Site, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	site, err := page.New(page.Config{Authenticator: anybody{}, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))}, Areas: []page.Area{{
		Path: "/one", Templates: templates, Routes: []page.Route{route},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return site, &log
}

// TestBrokenPageIsLogged checks that the log contains the error of a failed template, as the error page promises.
func TestBrokenPageIsLogged(t *testing.T) {
	t.Parallel()
	site, log := one(t, page.Route{Pattern: "GET /one", Serve: func(context.Context, *page.Request) (page.Answer, error) {
		return &page.View{Page: "broken", Data: 1}, nil
	}})
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/one", http.NoBody))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "The cause is in the server") {
		t.Errorf("the page is %d\n%s", w.Code, w.Body)
	}
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "Nothing") {
		t.Errorf("the log has %s", text)
	}
}

// TestContent checks that the time limit applies to each piece of a Content, and that the whole response may take longer.
func TestContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := false
		site, _ := one(t, page.Route{Pattern: "GET /one", Serve: func(context.Context, *page.Request) (page.Answer, error) {
			return page.Content{Close: func() error { closed = true; return nil }, Send: func(w http.ResponseWriter, _ *http.Request) {
				for range 3 {
					time.Sleep(20 * time.Second)
					_, _ = w.Write([]byte("a piece "))
				}
			}}, nil
		}})
		w := &reader{header: http.Header{}}
		site.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/one", http.NoBody))
		if !closed || w.text() != "a piece a piece a piece " || time.Until(w.deadline) != 30*time.Second {
			t.Errorf("closed: %t; got %q, the last with %v to take it", closed, w.text(), time.Until(w.deadline))
		}
	})
}

// TestContentHasNoStream checks that a stream request for a Content closes the Content.
func TestContentHasNoStream(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	site, _ := one(t, page.Route{Pattern: "GET /one", Serve: func(context.Context, *page.Request) (page.Answer, error) {
		return page.Content{Close: func() error { closed <- struct{}{}; return nil }}, nil
	}})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/one", http.NoBody)
	r.Header.Set("Accept", "text/event-stream")
	site.ServeHTTP(httptest.NewRecorder(), r)
	<-closed
}

// TestStreamOfAnEndedPage opens the stream of a page that is no longer live, while a stream of the same page is blocked by its browser. The
// new stream must end with a reload event.
func TestStreamOfAnEndedPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		site, _ := one(t, page.Route{Pattern: "GET /one", Serve: func(context.Context, *page.Request) (page.Answer, error) {
			v := &page.View{Page: "list", Data: 1, Live: []string{"number"}}
			if ended.Load() {
				v.Live = nil
			}
			return v, nil
		}})
		watch := func() *reader {
			w := &reader{header: http.Header{}, ended: make(chan struct{})}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/one", http.NoBody)
			r.Header.Set("Accept", "text/event-stream")
			go func() {
				defer close(w.ended)
				site.ServeHTTP(w, r)
			}()
			synctest.Wait()
			return w
		}
		stuck := watch()
		stuck.mu.Lock()
		stuck.stuck = true
		stuck.mu.Unlock()
		ended.Store(true)
		time.Sleep(2 * page.LiveEvery)
		if w := watch(); !w.over() || !strings.HasSuffix(w.text(), "event: reload\ndata:\n\n") {
			t.Errorf("the stream goes on with\n%s", w.text())
		}
		<-stuck.ended
	})
}

// TestStreamsShowNothingOld opens a second stream after a change that is not rendered yet. Both streams must receive the change
// immediately, and the second stream must receive no older state.
func TestStreamsShowNothingOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var number atomic.Int64
		site, _ := one(t, page.Route{Pattern: "GET /one", Serve: func(context.Context, *page.Request) (page.Answer, error) {
			return &page.View{Page: "list", Data: number.Load(), Live: []string{"number"}, Every: time.Hour}, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		watch := func() *reader {
			w := &reader{header: http.Header{}, ended: make(chan struct{})}
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/one", http.NoBody)
			r.Header.Set("Accept", "text/event-stream")
			go func() {
				defer close(w.ended)
				site.ServeHTTP(w, r)
			}()
			synctest.Wait()
			return w
		}
		first := watch()
		time.Sleep(time.Second)
		number.Store(7)
		second := watch()
		time.Sleep(time.Second)
		if text := second.text(); strings.Contains(text, ">0<") || !strings.Contains(text, ">7<") {
			t.Errorf("the second stream shows\n%s", text)
		}
		if text := first.text(); !strings.Contains(text, ">0<") || !strings.Contains(text, ">7<") {
			t.Errorf("the first stream shows\n%s", text)
		}
		cancel()
		<-first.ended
		<-second.ended
	})
}

func TestFaultsOf(t *testing.T) {
	t.Parallel()
	names := map[string]string{"phone_number": "phone"}
	for name, c := range map[string]struct {
		err  error
		want page.Faults // nil if the form is not shown again
	}{
		"a field":               {callwright.Invalid("name", "is required"), page.Faults{"name": "is required"}},
		"a renamed field":       {callwright.Invalid("phone_number", "is required"), page.Faults{"phone": "is required"}},
		"a field it lacks":      {callwright.Invalid("metadata", "is too long"), page.Faults{"": "metadata: is too long"}},
		"the form":              {callwright.Errorf(callwright.CodeConflict, "somebody was first"), page.Faults{"": "somebody was first"}},
		"something named":       {callwright.InField("name", callwright.NotFound("persona")), page.Faults{"name": "persona not found"}},
		"the page":              {callwright.NotFound("call"), nil},
		"too many":              {&callwright.Error{Code: callwright.CodeTooManyRequests, Message: "all are busy", RetryAfter: 2 * time.Second}, page.Faults{"": "all are busy. Try again in 2.0 s"}},
		"busy":                  {&callwright.Error{Code: callwright.CodeUnavailable, Message: "busy", RetryAfter: time.Second}, page.Faults{"": "busy. Try again in 1.0 s"}},
		"a field that can't be": {callwright.InField("name", callwright.Errorf(callwright.CodeUnavailable, "needs files")), page.Faults{"name": "needs files"}},
		"no database":           {callwright.ErrUnavailable, nil},
		"something else":        {errors.New("oops"), nil},
		"nothing":               {nil, nil},
	} {
		got, ok := page.FaultsOf(c.err, names, "name", "phone")
		if ok != (c.want != nil) || len(got) != len(c.want) {
			t.Errorf("%s: %v, %t; want %v", name, got, ok, c.want)
		}
		for field, text := range c.want {
			if got[field] != text {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
}
