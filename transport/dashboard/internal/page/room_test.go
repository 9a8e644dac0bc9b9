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

// send sends a form with a session token and returns the response. It blocks until the body ends.
func (h *house) send(ctx context.Context, method, path, token string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: "callwright_session", Value: token})
	w := httptest.NewRecorder()
	h.site.ServeHTTP(w, r)
	return w
}

// stall sends forms whose bodies yield nothing until ctx is canceled, and waits until the server reads them.
func (h *house) stall(ctx context.Context, count int, path, token string) {
	for range count {
		body, end := io.Pipe()
		context.AfterFunc(ctx, func() { _ = end.CloseWithError(context.Canceled) })
		go h.send(ctx, http.MethodPost, path, token, body)
	}
	synctest.Wait()
}

// TestSlowSignIn checks that 1000 unfinished sign-in forms delay no other request.
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

// TestSlowOrganization checks that 1000 unfinished forms of an organization affect no other organization. The organization's own requests
// fail immediately until the forms end.
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

// TestLargeSignIn checks that a sign-in form of more than 4 KiB is refused.
func TestLargeSignIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	if status, _, _ := h.post(t, "/login", "/login", map[string][]string{"key": {strings.Repeat("x", 5000)}}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("it is answered %d", status)
	}
}

// TestLargeTexts checks that MaxBody limits the text of a form even if Files allows a larger body.
func TestLargeTexts(t *testing.T) {
	t.Parallel()
	site, _ := one(t, page.Route{Pattern: "POST /one", MaxBody: 2000, Files: 100_000, Serve: func(context.Context, *page.Request) (page.Answer, error) {
		return page.SeeOther{To: "/one"}, nil
	}})
	for name, c := range map[string]struct {
		text, file int
		want       int
	}{
		"small":      {1000, 90_000, http.StatusForbidden}, // refused later, because it has no CSRF token
		"large text": {3000, 10, http.StatusRequestEntityTooLarge},
		"large file": {10, 110_000, http.StatusRequestEntityTooLarge},
	} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		_ = form.WriteField("text", strings.Repeat("x", c.text)) // cannot fail, because body is in memory
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

// TestCarriageReturns checks that a text with carriage returns stays within its event. A carriage return ends a line of a stream, so the
// text could otherwise inject events.
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
