package pathways_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/pathways"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// signedIn is an Authenticator that accepts every request as the same principal.
type signedIn struct{}

func (signedIn) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "key-1", KeyName: "desk"}, nil
}

type house struct {
	t        *testing.T
	pathways *pathway.Service
	store    pathway.Store
	chats    *chats
	gate     agentstest.Gate
	url      string
	client   *http.Client
}

// chats is a pathway.Chats that refuses new chats and turns while busy is set.
type chats struct {
	pathway.Chats

	busy atomic.Bool
}

var errBusy = &callwright.Error{Code: callwright.CodeTooManyRequests, Message: "too many chats", RetryAfter: time.Second}

func (c *chats) CountChats(ctx context.Context, org callwright.OrgID) (int, error) {
	if c.busy.Load() {
		return 0, errBusy
	}
	return c.Chats.CountChats(ctx, org)
}

func (c *chats) UpdateChat(ctx context.Context, one pathway.Chat, logs ...pathway.Log) error {
	if c.busy.Load() {
		return errBusy
	}
	return c.Chats.UpdateChat(ctx, one, logs...)
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h, store := &house{t: t}, memstore.New()
	h.store, h.chats = agentstore.Pathways{Store: store}, &chats{Chats: agentstore.Chats{Store: store}}
	var err error
	if h.pathways, err = pathway.New(pathway.Config{
		Store: h.store, Chats: h.chats, Atomic: store,
		Work: memstore.NewWork(store, nil), Gate: &h.gate, Interpreter: &pathway.Interpreter{Model: scripted.New()},
	}); err != nil {
		t.Fatal(err)
	}
	d, err := page.New(page.Config{
		Authenticator: signedIn{}, Areas: []page.Area{pathways.New(pathways.Config{Pathways: h.pathways, Calls: true, Tests: true})},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	jar, _ := cookiejar.New(nil) // never fails without options
	h.url, h.client = server.URL, &http.Client{Transport: new(http.Transport), Jar: jar}
	return h
}

// want makes a request: GET if form is nil, otherwise POST. It checks that the answer has the status, contains the texts, and contains no
// unescaped script element. It returns the path of the final answer, after redirects.
func (h *house) want(path string, form url.Values, status int, texts ...string) string {
	h.t.Helper()
	if form != nil {
		form.Set("csrf", h.token())
	}
	answer := pagetest.Send(h.t, h.client, h.url+path, form)
	body := answer.Body
	if answer.Status != status {
		h.t.Fatalf("%s: status %d, want %d:\n%s", path, answer.Status, status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			h.t.Errorf("%s lacks %q:\n%s", path, text, body)
		}
	}
	if strings.Contains(body, "<script>") {
		h.t.Errorf("%s has a script that somebody wrote", path)
	}
	return answer.URL.Path
}

var tokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func (h *house) token() string {
	h.t.Helper()
	found := tokenPattern.FindStringSubmatch(pagetest.Send(h.t, h.client, h.url+"/pathways/new", nil).Body)
	if found == nil {
		h.t.Fatal("the page has no token")
	}
	return found[1]
}

const days = `{"nodes": [
{"id": "day", "type": "Default", "data": {"name": "<script>alert(1)</script>", "isStart": true, "text": "Which day?"}},
{"id": "bye", "type": "End Call", "data": {"text": "Goodbye."}}],
"edges": [{"id": "e1", "source": "day", "target": "bye", "data": {"label": "a day"}}]}`

func TestPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.want("/pathways", nil, http.StatusOK, "Create the first pathway")
	h.want("/pathways/new", nil, http.StatusOK, "isStart")
	at := h.want("/pathways", url.Values{"name": {"<script>x"}, "document": {days}}, http.StatusOK, "&lt;script&gt;x", "There are no versions yet")
	h.want("/pathways", nil, http.StatusOK, at)
	draft := at + "/versions/0"
	h.want(draft, nil, http.StatusOK, "Which day?", `id="pathway-title"`, "Choose a node")
	h.want(draft+"?node=day&view=0+0+200+200", nil, http.StatusOK, `<h3 id="node">&lt;script&gt;`, "Zoom in", `viewBox="0 0 200 200"`)
	h.want(draft+"?node=nowhere&view=x", nil, http.StatusOK, "Choose a node", "Zoom in")
	h.want(draft, url.Values{"document": {days}, "name": {"First"}, "as": {"version"}}, http.StatusOK, "Version 1 is saved.", "First")
	other := strings.Replace(days, "Which day?", "What day?", 1)
	h.want(draft, url.Values{"document": {other}, "as": {"draft"}}, http.StatusOK, "The draft is saved.")
	h.want(at+"/diff?from=1&to=0", nil, http.StatusOK, "data.text", "Which day?", "What day?", "&lt;script&gt;")
	h.want(at+"/diff?from=1&to=1", nil, http.StatusOK, "the same way")
	h.want(at+"/diff?from=x&to=1", nil, http.StatusBadRequest)
	h.want(at+"/versions/1/fork", url.Values{"fork": {"Second"}}, http.StatusOK, "Version 2 is saved.", "Second")
	h.want(at+"/versions/2/publish", url.Values{"environment": {"staging"}}, http.StatusOK, "Version 2 is published to staging.")
	h.want(at+"/versions/2/discard", url.Values{}, http.StatusUnprocessableEntity, "version 2 is in staging: publish another version there first.")
	h.want(at+"/versions/1/discard", url.Values{}, http.StatusOK, "Version 1 is discarded.")
	h.want(at+"/versions/1", nil, http.StatusNotFound)
	h.want(at+"/delete", url.Values{}, http.StatusOK, "The pathway is deleted.")
	h.want(at, nil, http.StatusNotFound)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.want("/pathways", url.Values{"document": {days}}, http.StatusUnprocessableEntity, "is required")
	h.want("/pathways", url.Values{"name": {"a"}, "document": {"{\n{"}}, http.StatusUnprocessableEntity, "must be valid JSON, but has an error in line 2")
	wrong := strings.Replace(days, `"End Call"`, `"Nowhere"`, 1)
	h.want("/pathways", url.Values{"name": {"a"}, "document": {wrong}}, http.StatusUnprocessableEntity, "Line 3:", "nodes[1].type", "Nowhere")
}

func TestGate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.want("/pathways", url.Values{"name": {"a"}, "document": {days}}, http.StatusOK)
	h.want(at+"/versions/0", url.Values{"document": {days}, "name": {"First"}, "as": {"version"}}, http.StatusOK)
	h.gate.Require("acme", strings.TrimPrefix(at, "/pathways/"))
	production := url.Values{"environment": {"production"}}
	h.want(at+"/versions/1/publish", production, http.StatusUnprocessableEntity, "cannot go to production: its test runs (batch batch-1)",
		`href="/tests/batches/batch-1"`, `href="/tests/runs?batch_id=batch-1&amp;status=FAILED"`, "those that have failed</a>.", `data-ask="Publish version 1 to production?`)
	v, _, err := h.pathways.Version(t.Context(), "acme", strings.TrimPrefix(at, "/pathways/"), 1)
	if err != nil {
		t.Fatal(err)
	}
	production.Set("publish_on_pass", "1")
	h.want(at+"/versions/1/publish", production, http.StatusOK, "when its tests have passed", "batch of tests")
	h.gate.Finish(v, false)
	h.want(at+"/versions/1/publish", production, http.StatusUnprocessableEntity, "its test has failed")
}

// TestNewer checks that the page of a draft links to the newest version if that version is newer than the draft and differs from it.
func TestNewer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	draft, newer := at+"/versions/0", `href="`+at+`/versions/1#edit"`
	other := strings.Replace(days, "Which day?", "What day?", 1)
	h.want(draft, url.Values{"document": {other}, "name": {"First"}, "as": {"version"}}, http.StatusOK)
	h.want(draft, nil, http.StatusOK, "Version 1 is newer than this draft", newer)
	h.want(draft, url.Values{"document": {"{"}, "as": {"draft"}}, http.StatusUnprocessableEntity, newer)
	h.lacks(at+"/versions/1", newer)
	for _, text := range []string{other, strings.Replace(days, "Which day?", "A day?", 1)} { // equal to the version, then newer than it
		h.want(draft, url.Values{"document": {text}, "as": {"draft"}}, http.StatusOK)
		h.lacks(draft, newer)
	}
	h.want(draft, url.Values{"document": {days}, "name": {"Second"}, "as": {"version"}}, http.StatusOK)
	h.want(draft, nil, http.StatusOK, "Version 2 is newer than this draft")
	h.want(at+"/versions/2/discard", url.Values{}, http.StatusOK)
	h.lacks(draft, `id="newer"`)
}

// TestRefusedFork checks that the page shows the name of a refused fork again. It must also show the fault of the name, or the errors of a
// stored document that is no longer valid.
func TestRefusedFork(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.saved(days)
	long := strings.Repeat("x", pathway.MaxName+1)
	h.want(at+"/versions/1/fork", url.Values{"fork": {long}}, http.StatusUnprocessableEntity, `id="fault-fork"`, `name="fork" required value="`+long+`"`)
	h.lacks(at+"/versions/1", `class="fault"`)
	h.want(at+"/versions/1/publish", url.Values{"environment": {"moon"}}, http.StatusUnprocessableEntity, `role="alert">environment: must be production or staging`)
	wrong := documentOf(t, strings.Replace(days, `"End Call"`, `"Nowhere"`, 1))
	id := strings.TrimPrefix(at, "/pathways/")
	p, err := h.pathways.Get(t.Context(), "acme", id)
	if err != nil {
		t.Fatal(err)
	}
	if p.Latest++; h.store.UpdatePathway(t.Context(), p) != nil {
		t.Fatal("the pathway is not stored")
	}
	if err := h.store.InsertVersion(t.Context(), pathway.Version{ID: "old", Org: "acme", Pathway: id, Number: 2, Document: wrong}); err != nil {
		t.Fatal(err)
	}
	h.want(at+"/versions/2/fork", url.Values{"fork": {"Again"}}, http.StatusUnprocessableEntity, `role="alert">The document of this version has errors`, "nodes[1].type",
		`value="Again"`)
}

// TestLostUpdates checks that a form can replace a draft, or publish over a version, only if the form has shown that draft or version.
func TestLostUpdates(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.saved(days)
	shown := func(path, name string) string {
		t.Helper()
		found := regexp.MustCompile(`name="`+name+`" value="(\d+)"`).FindAllStringSubmatch(pagetest.Send(t, h.client, h.url+path, nil).Body, -1)
		if found == nil {
			t.Fatalf("%s has no field %s", path, name)
		}
		return found[len(found)-1][1] // the last field of this name; in forms that publish, the field for production
	}
	draft := at + "/versions/0"
	before := shown(draft, "revision")
	text := func(day string) string { return strings.Replace(days, "Which day?", day, 1) }
	h.want(draft, url.Values{"document": {text("Theirs?")}, "as": {"draft"}, "revision": {before}}, http.StatusOK, "The draft is saved.")
	h.want(draft, url.Values{"document": {"{"}, "as": {"draft"}, "revision": {before}}, http.StatusUnprocessableEntity, `name="revision" value="`+before+`"`)
	h.want(draft, url.Values{"document": {text("Ours?")}, "as": {"draft"}, "revision": {before}}, http.StatusUnprocessableEntity,
		`role="alert">the pathway was changed after you read it`, "Ours?", `name="revision" value="`+shown(draft, "revision")+`"`)
	h.want(draft, nil, http.StatusOK, "Theirs?")
	h.want(draft, url.Values{"document": {text("Ours?")}, "as": {"draft"}, "revision": {shown(draft, "revision")}}, http.StatusOK, "The draft is saved.")
	h.want(draft, url.Values{"document": {days}, "as": {"draft"}, "revision": {"x"}}, http.StatusBadRequest)

	h.want(draft, url.Values{"document": {days}, "name": {"Second"}, "as": {"version"}}, http.StatusOK)
	over := shown(at+"/versions/1", "over")
	h.want(at+"/versions/2/publish", url.Values{"environment": {"production"}, "over": {over}}, http.StatusOK, "Version 2 is published to production.")
	h.want(at+"/versions/1/publish", url.Values{"environment": {"production"}, "over": {over}}, http.StatusUnprocessableEntity, "another version was published",
		`name="over" value="2"`)
	h.want(at+"/versions/1/publish", url.Values{"environment": {"production"}, "over": {"x"}}, http.StatusUnprocessableEntity, "over: must be the number of a version")
}

// TestDiscard checks that the pages of discardable versions have a discard button, and that the page of a version in production names the
// step that must come first instead.
func TestDiscard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.saved(days)
	h.want(at+"/versions/1", nil, http.StatusOK, "Discard this version")
	h.want(at+"/versions/1/publish", url.Values{"environment": {"production"}}, http.StatusOK)
	h.want(at+"/versions/1", nil, http.StatusOK, "It cannot be discarded: version 1 is in production: publish another version first.")
	for _, number := range []string{"0", "1"} {
		h.lacks(at+"/versions/"+number, "Discard this version")
	}
}

// saved creates a pathway with one saved version, and returns the path of the pathway's page.
func (h *house) saved(text string) string {
	h.t.Helper()
	at := h.create(text)
	h.want(at+"/versions/0", url.Values{"document": {text}, "name": {"First"}, "as": {"version"}}, http.StatusOK)
	return at
}

// TestCompare checks which two versions the comparison form proposes. They must differ as soon as the pathway has a version.
func TestCompare(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	wants := func(from, to int) {
		t.Helper()
		h.want(at, nil, http.StatusOK, fmt.Sprintf(`name="from" type="number" min="0" required value="%d"`, from),
			fmt.Sprintf(`name="to" type="number" min="0" required value="%d"`, to))
	}
	save := func() {
		t.Helper()
		h.want(at+"/versions/0", url.Values{"document": {days}, "name": {"Next"}, "as": {"version"}}, http.StatusOK)
	}
	publish := func(number int) {
		t.Helper()
		h.want(fmt.Sprintf("%s/versions/%d/publish", at, number), url.Values{"environment": {"production"}}, http.StatusOK)
	}
	wants(0, 0)
	save()
	wants(1, 0)
	save()
	save()
	wants(1, 3)
	publish(2)
	wants(2, 3)
	publish(3)
	wants(2, 3)
}

// TestPlaces checks that a version's page shows the environments in which the version is published, and links to a call with it.
func TestPlaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	call := `href="/calls/new?pathway_id=` + strings.TrimPrefix(at, "/pathways/")
	h.lacks(at, "Call with this pathway")
	h.want(at+"/versions/0", url.Values{"document": {days}, "name": {"First"}, "as": {"version"}}, http.StatusOK)
	h.want(at+"/versions/0", nil, http.StatusOK, call+`&amp;pathway_version=0"`)
	one := at + "/versions/1"
	h.want(one, nil, http.StatusOK, call+`&amp;pathway_version=1"`, "Publish to staging</button></form>")
	for i, environment := range []string{"staging", "production"} {
		badge := "in " + environment + "</span>"
		h.lacks(one, badge)
		h.want(one+"/publish", url.Values{"environment": {environment}}, http.StatusOK)
		h.want(one, nil, http.StatusOK, badge)
		if i == 0 {
			h.lacks(one, "in production</span>")
		}
	}
	h.want(at, nil, http.StatusOK, call+`">Call with this pathway`)
}

// TestTypes checks that the list beside the editor contains 7 node types, all of which graph.Compile knows.
func TestTypes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	answer := pagetest.Send(t, h.client, h.url+"/pathways/new", nil)
	_, list, _ := strings.Cut(answer.Body, "The types of nodes")
	types := regexp.MustCompile(`<li><code>([^<]+)</code></li>`).FindAllStringSubmatch(list, -1)
	if len(types) != 7 {
		t.Errorf("%d types are listed", len(types))
	}
	for _, found := range types {
		_, err := graph.Compile(documentOf(t, strings.Replace(days, "End Call", found[1], 1)))
		if err != nil && strings.Contains(err.Error(), "must be Default, ") {
			t.Error(err)
		}
	}
}

// lacks requests a page, and checks that the status is 200 and that the page does not contain the text.
func (h *house) lacks(path, text string) {
	h.t.Helper()
	if answer := pagetest.Send(h.t, h.client, h.url+path, nil); answer.Status != http.StatusOK || strings.Contains(answer.Body, text) {
		h.t.Errorf("%s is answered %d, and has %q", path, answer.Status, text)
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, err := h.pathways.Create(t.Context(), "other", pathway.Draft{Name: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	at := "/pathways/" + p.ID
	for _, path := range []string{at, at + "/versions/0", at + "/versions/x", at + "/diff?from=0&to=0", at + "/chats"} {
		h.want(path, nil, http.StatusNotFound)
	}
	for _, do := range []string{"/delete", "/versions/1/publish", "/versions/1/fork", "/versions/1/discard", "/versions/0/chats"} {
		h.want(at+do, url.Values{"name": {"n"}, "fork": {"n"}}, http.StatusNotFound)
	}
}
