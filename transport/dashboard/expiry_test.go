package dashboard_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// clock is a callwright.Clock whose time changes only through its method move.
type clock struct{ since atomic.Int64 }

func (c *clock) Now() time.Time           { return created.Add(time.Duration(c.since.Load())) }
func (c *clock) move(by time.Duration)    { c.since.Add(int64(by)) }
func at(r pagetest.Answer, p string) bool { return r.Status == http.StatusOK && r.URL.Path == p }

// TestExpiredSession uses an open page after its session has expired. The form must have no effect, and a new sign-in must lead back to the
// page.
func TestExpiredSession(t *testing.T) {
	t.Parallel()
	store, now := memstore.New(), new(clock)
	keys := must(access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32)), Runtime: callwright.Runtime{Clock: now},
	}))
	must(keys.CreateOrganization(t.Context(), owner, "Owner"))
	key := must(keys.CreateKey(t.Context(), owner, "desk", 0)).Key.Reveal()
	pages := must(dashboard.New(dashboard.Config{Sessions: keys, Access: keys, Runtime: callwright.Runtime{Clock: now}}))
	server := httptest.NewServer(pages)
	t.Cleanup(func() {
		if err := pages.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	client := &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}
	send := func(path string, form url.Values) pagetest.Answer {
		t.Helper()
		return pagetest.Send(t, client, server.URL+path, form)
	}
	token := func(a pagetest.Answer) string { return tokens.FindStringSubmatch(a.Body)[1] }

	signIn := url.Values{"csrf": {token(send("/login", nil))}, "key": {key}, "next": {"/settings/sessions"}}
	if a := send("/login", signIn); !at(a, "/settings/sessions") {
		t.Fatalf("the sign-in leads to %s (%d)", a.URL, a.Status)
	}
	now.move(12*time.Hour - time.Second)
	open := send("/settings", nil)
	if !at(open, "/settings") {
		t.Fatalf("a session that is used leads to %s (%d)", open.URL, open.Status)
	}
	now.move(12*time.Hour + time.Minute)
	if a := send("/settings/keys", url.Values{"csrf": {token(open)}, "name": {"forgotten"}}); !at(a, "/login") {
		t.Errorf("a form after 12 hours leads to %s (%d)", a.URL, a.Status)
	}
	a := send("/settings/sessions?a=b", nil)
	if !at(a, "/login") || !strings.Contains(a.Body, `value="/settings/sessions?a=b"`) {
		t.Errorf("a page after 12 hours leads to %s (%d)\n%s", a.URL, a.Status, a.Body)
	}
	if found := must(keys.Keys(t.Context(), owner, callwright.Keyset{}, 10)); len(found.Items) != 1 {
		t.Errorf("there are %d keys", len(found.Items))
	}
	if signIn.Set("csrf", token(a)); !at(send("/login", signIn), "/settings/sessions") {
		t.Error("there is no way back")
	}
}
