package dashboard_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// person is the browser of a user of an organization.
type person struct {
	t      *testing.T
	org    callwright.OrgID
	url    string
	client *http.Client
}

// serve serves the areas after change has modified each route, and returns users of both organizations.
func (h *house) serve(change func(*page.Route)) (theOwner, theStranger person) {
	h.t.Helper()
	all := dashboard.Areas(h.config)
	for i := range all {
		for j := range all[i].Routes {
			change(&all[i].Routes[j])
		}
	}
	site := must(page.New(page.Config{Authenticator: anybody{}, Areas: all}))
	server := httptest.NewServer(site)
	h.t.Cleanup(func() {
		h.check(site.Close(context.Background()))
		server.Close()
	})
	of := func(org callwright.OrgID) person {
		return person{h.t, org, server.URL, &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}}
	}
	return of(owner), of(stranger)
}

// send sends a request: GET if form is nil, and otherwise POST.
func (p person) send(path string, form url.Values) pagetest.Answer {
	p.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Org", string(p.org))
	return pagetest.Do(p.t, p.client, r)
}

// tokens matches the CSRF token of a form. Tokens differ between pages.
var tokens = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// token returns a valid CSRF token for the user.
func (p person) token() string {
	p.t.Helper()
	return tokens.FindStringSubmatch(p.send("/calls/new", nil).Body)[1]
}

var wildcard = regexp.MustCompile(`\{\w+\}`)

// address returns the path for a pattern, and the query parameters that its page requires. Ids from the second map replace the last
// wildcard of the pattern, and ids from the first map the others.
func address(t *testing.T, pattern string, first, last things) string {
	t.Helper()
	at := wildcard.FindAllStringIndex(pattern, -1)
	path := pattern
	for i, place := range slices.Backward(at) {
		ids, until := first, place[1]
		if i == len(at)-1 {
			ids = last
		}
		id, ok := ids[pattern[:until]]
		if !ok {
			t.Errorf("furnish has to make what %s names", pattern[:until])
		}
		path = path[:place[0]] + url.PathEscape(id) + path[until:]
	}
	return path + queries[pattern]
}

// queries maps patterns to the query parameters that their pages require.
var queries = map[string]string{"/pathways/{id}/diff": "?from=1&to=2"}

// filled returns a form with the CSRF token and values for fields of many pages.
func filled(token string) url.Values {
	form := url.Values{"csrf": {token}}
	for name, value := range map[string]string{
		"status": "todo", "severity": "low", "title": "New", "comment": "a", "detail": "a", "resource_type": "call", "resource_id": "call-stranger",
		"flag_call": "call-stranger", "flag_type": "a", "related": "T-1002", "relation_type": "blocks", "into": "T-1002", "answer": "a", "prompt": "a",
		"name": "New", "environment": "staging", "codecs": "PCMU", "direction": "outbound", "overlap": "1",
		"document": `{"nodes":[],"edges":[]}`, "count": "1", "text": "a", "message": "a",
	} {
		form.Set(name, value)
	}
	return form
}

// TestForeignIDs requests objects of another organization at every route with an id. No object may be found or changed.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	h := open(t)
	theirs, own := h.furnish(owner, "+14155550100"), h.furnish(stranger, "+14155550101")
	var patterns []string
	theOwner, theStranger := h.serve(func(r *page.Route) {
		if wildcard.MatchString(r.Pattern) {
			patterns = append(patterns, r.Pattern)
		}
	})
	seen := func() map[string]string {
		bodies := map[string]string{}
		for _, pattern := range patterns {
			if path, isGet := strings.CutPrefix(pattern, "GET "); isGet {
				a := theOwner.send(address(t, path, theirs, theirs), nil)
				if a.Status != http.StatusOK {
					t.Errorf("the owner's %s is answered %d\n%s", path, a.Status, a.Body)
				}
				bodies[path] = tokens.ReplaceAllString(a.Body, "")
			}
		}
		return bodies
	}
	before, form := seen(), filled(theStranger.token())
	for _, pattern := range patterns {
		method, path, _ := strings.Cut(pattern, " ")
		send := form
		if method == http.MethodGet {
			send = nil
		}
		foreign := []string{address(t, path, theirs, theirs)}
		if strings.Count(path, "{") > 1 {
			foreign = append(foreign, address(t, path, own, theirs))
		}
		for _, at := range foreign {
			if a := theStranger.send(at, send); a.Status != http.StatusNotFound {
				t.Errorf("a stranger's %s %s is answered %d\n%s", method, at, a.Status, a.Body)
			}
		}
	}
	for path, body := range seen() {
		if body != before[path] {
			t.Errorf("after a stranger's requests %s shows\n%s\nbefore:\n%s", path, body, before[path])
		}
	}
	if len(patterns) < 40 {
		t.Errorf("only %d routes have ids", len(patterns))
	}
}

// TestForgedTokens sends every form without a token, with a wrong token, and with another browser's token. No form may have an effect.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	h := open(t)
	theirs := h.furnish(owner, "+14155550100")
	var patterns []string
	theOwner, theStranger := h.serve(func(r *page.Route) {
		method, path, _ := strings.Cut(r.Pattern, " ")
		switch method {
		case http.MethodGet:
		case http.MethodPost:
			patterns = append(patterns, path)
			r.Serve = func(context.Context, *page.Request) (page.Answer, error) {
				t.Errorf("%s was reached", path)
				return page.SeeOther{To: "/"}, nil
			}
		default:
			t.Errorf("%s: forms know no other methods", r.Pattern)
		}
	})
	theOwner.token() // sets the CSRF cookie
	for _, path := range patterns {
		for name, token := range map[string]string{"none": "", "a wrong one": strings.Repeat("A", 43), "another's": theStranger.token()} {
			if a := theOwner.send(address(t, path, theirs, theirs), filled(token)); a.Status != http.StatusForbidden {
				t.Errorf("POST %s with a token, %s, is answered %d", path, name, a.Status)
			}
		}
	}
	if len(patterns) < 30 {
		t.Errorf("only %d routes take forms", len(patterns))
	}
}

// TestEvidence checks that a line that an issue cites links to the line in the call.
func TestEvidence(t *testing.T) {
	t.Parallel()
	h := open(t)
	theirs := h.furnish(owner, "+14155550100")
	theOwner, _ := h.serve(func(*page.Route) {})
	text := theOwner.send("/issues/"+theirs["/issues/{id}"], nil).Body
	if want := `<a href="/calls/call-owner?lines=1#line-1">call call-owner, line 1, 12.3 s</a>`; !strings.Contains(text, want) {
		t.Errorf("there is no %s in\n%s", want, text)
	}
}

// TestIssuesLinkToAreas checks that an issue links to its call only if the dashboard has pages for calls.
func TestIssuesLinkToAreas(t *testing.T) {
	t.Parallel()
	h := open(t)
	issue, theirs := "/issues/{id}", h.furnish(owner, "+14155550100")
	for _, there := range []bool{true, false} {
		if !there {
			h.config.Calls = nil
		}
		theOwner, _ := h.serve(func(*page.Route) {})
		text := theOwner.send("/issues/"+theirs[issue], nil).Body
		if strings.Contains(text, `href="/calls/`+theirs["/calls/{id}"]) != there || !strings.Contains(text, "Wrong date") {
			t.Errorf("with calls %t: the page is\n%s", there, text)
		}
	}
}

// TestDeliveryLinks checks that an undelivered message links to its call.
func TestDeliveryLinks(t *testing.T) {
	t.Parallel()
	h := open(t)
	theirs := h.furnish(owner, "+14155550100")
	theOwner, _ := h.serve(func(*page.Route) {})
	text := theOwner.send("/settings/deliveries", nil).Body
	if want := `<a href="/calls/` + theirs["/calls/{id}"] + `">`; !strings.Contains(text, want) {
		t.Errorf("there is no %s in\n%s", want, text)
	}
}
