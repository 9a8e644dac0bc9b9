package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"

	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// TestEndedSessionEndsStreams tries to end a session or its key in several ways. The session's two streams must end immediately if the
// session is no longer valid, and otherwise continue. The stream of another session with the same key must end only if the key is no longer
// valid.
func TestEndedSessionEndsStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end      func(d *desk) error
		session  bool // the streams of the session end
		together bool // the streams of the key's other sessions end, too
	}{
		"sign-out in the browser": {func(d *desk) error { d.signOut(); return nil }, true, false},
		"end of the session": {func(d *desk) error {
			return d.DeleteSession(d.t.Context(), "acme", d.session.ID)
		}, true, false},
		"revocation": {func(d *desk) error { return d.RevokeKey(d.t.Context(), "acme", d.key.Record.ID) }, true, true},
		"rotation": {func(d *desk) error {
			_, err := d.RotateKey(d.t.Context(), "acme", d.key.Record.ID, 0)
			return err
		}, true, true},
		"rotation with an overlap": {func(d *desk) error {
			_, err := d.RotateKey(d.t.Context(), "acme", d.key.Record.ID, access.MaxOverlap)
			return err
		}, false, false},
		"end of another organization's": {func(d *desk) error {
			_ = d.DeleteSession(d.t.Context(), "other", d.session.ID)
			_ = d.RevokeKey(d.t.Context(), "other", d.key.Record.ID)
			return nil
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				ctx, cancel := context.WithCancel(t.Context())
				own, same := d.watch(ctx, t, "/things", d.token), d.watch(ctx, t, "/things", d.token)
				second, _, err := d.SignIn(t.Context(), d.key.Key.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				other := d.watch(ctx, t, "/things", second)
				if own.over() || same.over() || other.over() {
					t.Fatal("a stream has ended before anything else has")
				}
				if err := c.end(d); err != nil {
					t.Fatal(err)
				}
				for _, r := range []*reader{own, same} {
					if r.over() != c.session || strings.HasSuffix(r.text(), "event: reload\ndata:\n\n") != c.session {
						t.Errorf("a stream of the session: ended %t, want %t, with\n%s", r.over(), c.session, r.text())
					}
				}
				if other.over() != c.together {
					t.Errorf("the stream of another session of the key: ended %t, want %t", other.over(), c.together)
				}
				cancel()
				if err := d.site.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestExpiredKeyEndsStreams checks that a stream ends when its key expires, even between two checks of the session. A rotation may bring
// the expiry forward.
func TestExpiredKeyEndsStreams(t *testing.T) {
	t.Parallel()
	for name, rotate := range map[string]bool{"expiry": false, "end of an overlap": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				ctx, cancel := context.WithCancel(t.Context())
				const life = 100500 * time.Millisecond
				key, err := d.CreateKey(t.Context(), "acme", "short", life)
				if rotate {
					key = d.key
				}
				if err != nil {
					t.Fatal(err)
				}
				token, _, err := d.SignIn(t.Context(), key.Key.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				w := d.watch(ctx, t, "/things", token)
				if rotate {
					if _, err := d.RotateKey(t.Context(), "acme", key.Record.ID, life); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(life - time.Millisecond)
				if w.over() {
					t.Fatalf("the stream has ended before the key with\n%s", w.text())
				}
				if time.Sleep(time.Millisecond); !w.over() || !strings.HasSuffix(w.text(), "event: reload\ndata:\n\n") {
					t.Errorf("the stream goes on after the expiry with\n%s", w.text())
				}
				cancel()
				if err := d.site.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// desk is a site whose sessions belong to an access.Service. A user is signed in.
type desk struct {
	house
	*access.Service

	t       *testing.T
	key     access.NewKey
	token   string
	session callwright.Session
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store := memstore.New()
	d := &desk{t: t}
	var err error
	d.Service, err = access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32)),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, org := range []callwright.OrgID{"acme", "other"} {
		if _, err := d.CreateOrganization(t.Context(), org, string(org)); err != nil {
			t.Fatal(err)
		}
	}
	if d.key, err = d.CreateKey(t.Context(), "acme", "desk", 0); err != nil {
		t.Fatal(err)
	}
	if d.token, d.session, err = d.SignIn(t.Context(), d.key.Key.Reveal()); err != nil {
		t.Fatal(err)
	}
	d.site, err = page.New(page.Config{Sessions: d.Service, Areas: []page.Area{{
		Title: "Things", Path: "/things", Templates: templates, Routes: []page.Route{{
			Pattern: "GET /things", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				return &page.View{Page: "list", Title: "Things", Data: 1, Live: []string{"number"}}, nil
			},
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// signOut sends the sign-out form with a valid CSRF token, and checks that the response redirects to /login.
func (d *desk) signOut() {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodGet, "/things", nil)
	r.AddCookie(&http.Cookie{Name: "callwright_session", Value: d.token})
	w := httptest.NewRecorder()
	d.site.ServeHTTP(w, r)
	found := tokenPattern.FindStringSubmatch(w.Body.String())
	if found == nil {
		d.t.Fatalf("the page has no token:\n%s", w.Body)
	}
	form := url.Values{"csrf": {found[1]}}
	out := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "/logout", strings.NewReader(form.Encode()))
	out.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, cookie := range append(w.Result().Cookies(), r.Cookies()...) {
		out.AddCookie(cookie)
	}
	answer := httptest.NewRecorder()
	if d.site.ServeHTTP(answer, out); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/login" {
		d.t.Fatalf("the sign-out is answered %d\n%s", answer.Code, answer.Body)
	}
}
