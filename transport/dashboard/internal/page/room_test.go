package page_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// send sends a request and returns its answer when it has ended. A body that never ends is read until the context ends.
func (h *house) send(ctx context.Context, method, path, token string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: "callwright_session", Value: token})
	w := httptest.NewRecorder()
	h.site.ServeHTTP(w, r)
	return w
}

// stall sends forms of which nothing comes, until the context ends.
func (h *house) stall(ctx context.Context, count int, path, token string) {
	for range count {
		body, end := io.Pipe()
		context.AfterFunc(ctx, func() { _ = end.CloseWithError(context.Canceled) })
		go h.send(ctx, http.MethodPost, path, token, body)
	}
	synctest.Wait()
}

// TestSlowSignIn lets unknown clients send forms that never arrive. All others are answered immediately.
func TestSlowSignIn(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		h.stall(ctx, 1000, "/login", "")
		begin := time.Now()
		for _, path := range []string{"/login", "/things"} {
			if a := h.send(ctx, http.MethodGet, path, token, nil); a.Code != http.StatusOK || time.Since(begin) > 0 {
				t.Errorf("%s is answered %d after %v", path, a.Code, time.Since(begin))
			}
		}
	})
}

// TestSlowOrganization lets one organization send forms that never arrive. Its own users wait in vain; users of others are answered
// immediately.
func TestSlowOrganization(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		other, _, err := h.keys.SignIn(ctx, otherKey)
		if err != nil {
			t.Fatal(err)
		}
		slow, end := context.WithCancel(ctx)
		h.stall(slow, 1000, "/things", token)
		begin := time.Now()
		if a := h.send(ctx, http.MethodGet, "/things", other, nil); a.Code != http.StatusOK || time.Since(begin) > 0 {
			t.Errorf("another organization is answered %d after %v", a.Code, time.Since(begin))
		}
		if a := h.send(ctx, http.MethodGet, "/things", token, nil); a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") != "5" {
			t.Errorf("the organization is answered %d, try again after %q", a.Code, a.Header().Get("Retry-After"))
		}
		end()
		synctest.Wait()
		if a := h.send(ctx, http.MethodGet, "/things", token, nil); a.Code != http.StatusOK {
			t.Errorf("after the forms have ended the organization is answered %d", a.Code)
		}
	})
}

// TestLargeSignIn sends more than a key to the sign-in.
func TestLargeSignIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	if status, _, _ := h.post(t, "/login", "/login", map[string][]string{"key": {strings.Repeat("x", 5000)}}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("it is answered %d", status)
	}
}

// TestLargeTexts sends forms that may bring files: their texts are bounded all the same.
func TestLargeTexts(t *testing.T) {
	t.Parallel()
	site, _ := one(t, page.Route{Pattern: "POST /one", MaxBody: 2000, Files: 100_000, Serve: func(context.Context, *page.Request) (page.Answer, error) {
		return page.SeeOther{To: "/one"}, nil
	}})
	for name, c := range map[string]struct {
		text, file int
		want       int
	}{
		"small":      {1000, 90_000, http.StatusForbidden}, // it has no token
		"large text": {3000, 10, http.StatusRequestEntityTooLarge},
		"large file": {10, 110_000, http.StatusRequestEntityTooLarge},
	} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		_ = form.WriteField("text", strings.Repeat("x", c.text)) // into memory
		file, _ := form.CreateFormFile("file", "f")
		_, _ = file.Write(make([]byte, c.file))
		_ = form.Close()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/one", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		if site.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/one", strings.NewReader("text="+strings.Repeat("x", 3000)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if site.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a text without files: %d", w.Code)
	}
}

// TestCarriageReturns streams a text with carriage returns, which end lines of a stream. It stays one event.
func TestCarriageReturns(t *testing.T) {
	t.Parallel()
	bubble(t, func(ctx context.Context, t *testing.T, h *house, token string) {
		text := h.watch(ctx, t, "/text", token).text()
		_, text, _ = strings.Cut(text, "event: part\n")
		if text == "" || strings.Contains(text, "\r") {
			t.Errorf("the stream is %q", text)
		}
		for line := range strings.Lines(text) {
			if line != "\n" && !strings.HasPrefix(line, "data: ") {
				t.Errorf("the stream has the line %q", line)
			}
		}
	})
}
