package issues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/transport/dashboard/internal/issues"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

const org callwright.OrgID = "acme"

// ada is the signed-in user. bob is another user of the organization.
var (
	ada = triage.Actor{Kind: triage.ActorUser, ID: "ada", Label: "Ada"}
	bob = triage.Actor{Kind: triage.ActorUser, ID: "bob", Label: "Bob"}
)

// signedIn is a page.Authenticator that identifies every request as ada's.
type signedIn struct{}

func (signedIn) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: org, KeyID: ada.ID, KeyName: ada.Label}, nil
}

// house is a dashboard with the issue pages, and its issues in memory.
type house struct {
	*triage.Service
	store  triagestore.Store
	t      *testing.T
	url    string
	client *http.Client
}

func open(t *testing.T, change ...func(*triage.Config, *issues.Config)) *house {
	t.Helper()
	memory, calls := memstore.New(), new(triagetest.Resolver)
	calls.Add(org, "c1", triage.Item{Title: `Call <script>alert("title")</script>`}, triage.Evidence{})
	domain := triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil), Analyst: new(triagetest.Analyst),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourceCall: calls},
	}
	config := issues.Config{Pages: []triage.ResourceType{triage.ResourceCall}}
	for _, f := range change {
		f(&domain, &config)
	}
	service, err := triage.New(domain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	config.Issues = service
	site, err := page.New(page.Config{Authenticator: signedIn{}, Areas: []page.Area{issues.New(config)}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		if err := site.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	jar, _ := cookiejar.New(nil) // never fails without options
	return &house{service, triagestore.Store{Store: memory}, t, server.URL, &http.Client{Transport: new(http.Transport), Jar: jar}}
}

// issue creates an issue of an organization as bob.
func (h *house) issue(org callwright.OrgID, d triage.Draft) triage.Issue {
	h.t.Helper()
	i, err := h.Create(h.t.Context(), org, bob, d)
	if err != nil {
		h.t.Fatal(err)
	}
	return i
}

// get requests a page and returns it. The test fails if the response has another status.
func (h *house) get(status int, path string) string {
	h.t.Helper()
	return h.do(status, http.MethodGet, path, nil)
}

func (h *house) do(status int, method, path string, form url.Values) string {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := h.client.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		h.t.Fatalf("%s: status %d, want %d, %v\n%s", answer.Request.URL.Path, answer.StatusCode, status, err, text)
	}
	return string(text)
}

var token = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// post sends a form of name and value pairs, with the CSRF token of the page "New issue", and returns the resulting page.
func (h *house) post(status int, path string, pairs ...string) string {
	h.t.Helper()
	form := url.Values{"csrf": {token.FindStringSubmatch(h.get(http.StatusOK, "/issues/new"))[1]}}
	for n := 0; n+1 < len(pairs); n += 2 {
		form.Set(pairs[n], pairs[n+1])
	}
	return h.do(status, http.MethodPost, path, form)
}

// has checks that a page contains all given texts.
func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// hasNot checks that a page contains none of the given texts.
func hasNot(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if strings.Contains(text, want) {
			t.Errorf("%q is in\n%s", want, text)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	h := open(t)
	has(t, h.get(http.StatusOK, "/issues"), "Open the first")
	h.issue(org, triage.Draft{Title: "First <script>", Category: "booking", AssigneeID: "ada"})
	h.issue(org, triage.Draft{Title: "Second", Severity: triage.SeverityCritical, Status: triage.StatusDone})
	h.issue("other", triage.Draft{Title: "Foreign"})
	for _, c := range []struct {
		query     string
		has, lack []string
	}{
		{"", []string{"T-1001 First &lt;script&gt;", "T-1002 Second", "new"}, []string{"Foreign", "First <script>"}},
		{"?status=backlog,todo", []string{"First"}, []string{"Second"}},
		{"?severity=critical", []string{"Second"}, []string{"T-1001"}},
		{"?assignee_id=ada", []string{"T-1001"}, []string{"T-1002"}},
		{"?unassigned=true", []string{"T-1002", "checked"}, []string{"T-1001"}},
		{"?category=booking", []string{"T-1001"}, []string{"T-1002"}},
		{"?search=t-1002&date_range=24h", []string{"T-1002"}, []string{"T-1001"}},
		{"?search=nothing", []string{"No issues match these filters"}, []string{"T-100"}},
		{"?resource_type=call", []string{"No issues match these filters"}, []string{"T-100"}},
		{"?sort=created_at&order=asc", []string{`aria-sort="ascending"`}, nil},
	} {
		text := h.get(http.StatusOK, "/issues"+c.query)
		has(t, text, c.has...)
		hasNot(t, text, c.lack...)
	}
	for _, query := range []string{"?sort=title", "?cursor=x"} {
		h.get(http.StatusBadRequest, "/issues"+query)
	}
}

// TestListFaults checks that the list's form shows the fault of an invalid filter and keeps the other filters.
func TestListFaults(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.issue(org, triage.Draft{Title: "First"})
	long := strings.Repeat("a", 300)
	for query, field := range map[string]string{
		"status=lost": "status", "severity=worst": "severity", "date_range=1y": "date_range", "date_field=never": "date_field", "search=" + long: "search",
		"unassigned=true&assignee_id=bob": "assignee_id", "owner_id=" + long: "owner_id", "category=" + long: "category", "resource_type=" + long: "resource_type",
	} {
		text := h.get(http.StatusUnprocessableEntity, "/issues?"+query+"&category=typed")
		has(t, text, `id="fault-`+field+`"`, "The search did not run", "typed")
		hasNot(t, text, "T-1001", "No issues match")
	}
}

// TestMarkdownIsCheap checks that a text that would occupy the parser for seconds is shown unparsed, and that a long ordinary text is
// parsed.
func TestMarkdownIsCheap(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, of := range []string{"[](", "![a](", `[a](\(`, "> ", ">", "- ", "1. ", "2) ", "+ 1. > "} {
		i := h.issue(org, triage.Draft{Title: "Costly", Description: "**first**\n\n" + strings.Repeat(of, 60_000/len(of))})
		has(t, h.get(http.StatusOK, "/issues/"+i.ID), "<pre>**first**\n\n")
	}
	quoted := "**first**\n\n" + strings.Repeat("> a [link](https://good.example)\n> - 1.5\n\n", 150)
	i := h.issue(org, triage.Draft{Title: "Ordinary", Description: quoted})
	has(t, h.get(http.StatusOK, "/issues/"+i.ID), "<strong>first</strong>", `<a href="https://good.example"`)
}

// TestListOfRareIssues searches for an issue that follows triage.MaxScan other issues. The first page must offer to continue the search.
func TestListOfRareIssues(t *testing.T) {
	t.Parallel()
	h := open(t)
	rare := h.issue(org, triage.Draft{Title: "Rare"})
	rare.Title = "Ordinary"
	for n := range triage.MaxScan {
		rare.ID, rare.Number, rare.CreatedAt = fmt.Sprint("i", n), triage.FirstNumber+1+n, rare.CreatedAt.Add(time.Second)
		if err := h.store.InsertIssue(t.Context(), rare); err != nil {
			t.Fatal(err)
		}
	}
	text := h.get(http.StatusOK, "/issues?search=rare&sort=created_at")
	has(t, text, "No issue matches among the 4\u202f000 that were looked at")
	hasNot(t, text, `rel="next"`, "No issues match these filters")
	_, next, _ := strings.Cut(text, `href="?cursor=`)
	next, _, _ = strings.Cut(next, `"`)
	text = h.get(http.StatusOK, "/issues?cursor="+strings.ReplaceAll(next, "&amp;", "&"))
	has(t, text, "T-1001 Rare")
	hasNot(t, text, "Search further")
}

func TestForms(t *testing.T) {
	t.Parallel()
	h := open(t)
	has(t, h.post(http.StatusUnprocessableEntity, "/issues", "title", "", "description", "typed"), `id="fault-title"`, "typed")
	has(t, h.post(http.StatusOK, "/issues", "title", "Books a closed day", "severity", "high", "status", "backlog"), "T-1001 is open.", "Books a closed day")
	other := h.issue(org, triage.Draft{Title: "Other"})
	found, err := h.List(t.Context(), org, triage.Query{Filter: triage.Filter{Search: "closed"}})
	if err != nil || len(found.Items) != 1 {
		t.Fatal(found, err)
	}
	id := found.Items[0].ID
	at := "/issues/" + id
	for _, c := range []struct {
		path   string
		form   []string
		status int
		has    []string
	}{
		{"/decline", []string{"reason", ""}, 422, []string{`id="fault-reason"`}},
		{"/accept", nil, 200, []string{"Issue accepted.", "accepted the issue", "backlog → todo"}},
		{"/decline", []string{"reason", "late"}, 422, []string{"does not allow the event decline"}},
		{"/change", []string{"status", "in_progress", "severity", "low", "assignee_id", "bob", "version", "x"}, 422, []string{"changed meanwhile"}},
		{"/change", []string{"status", "in_progress", "severity", "low", "assignee_id", "bob", "version", "2"}, 200, []string{"todo → in progress", "high → low"}},
		{"/take", nil, 200, []string{"bob → Ada", "<dt>Assignee</dt><dd>Ada</dd>", `name="assignee_id" value="ada"`}},
		{"/edit", []string{"title", "", "version", "4"}, 422, []string{`id="fault-title"`}},
		{"/edit", []string{"title", "Stale", "version", "1", "status", "done", "severity", "low"}, 422, []string{"changed meanwhile", "Stale"}},
		{"/comments", []string{"comment", ""}, 422, []string{`id="fault-comment"`}},
		{"/comments", []string{"comment", "**Seen** it"}, 200, []string{"<strong>Seen</strong> it"}},
		{"/attachments", []string{"resource_type", "call", "resource_id", "unknown"}, 422, []string{`id="fault-resource_id"`, "unknown"}},
		{"/attachments", []string{"resource_type", "run", "resource_id", "r"}, 422, []string{`id="fault-resource_type"`}},
		{"/flags", []string{"flag_call", "c1", "flag_type", "date"}, 422, []string{`id="fault-flag_call"`}},
		{"/attachments", []string{"resource_type", "call", "resource_id", "c1"}, 200, []string{`href="/calls/c1"`}},
		{"/flags", []string{"flag_call", "c1", "flag_type", "date", "flag_line", "x"}, 422, []string{`id="fault-flag_line"`}},
		{"/flags", []string{"flag_call", "c1", "flag_type", "date", "flag_line", "3"}, 200, []string{"line 3"}},
		{"/relations", []string{"related", "T-9999", "relation_type", "blocks"}, 422, []string{`id="fault-related"`}},
		{"/relations", []string{"related", "t-1002", "relation_type", "blocks"}, 200, []string{"blocks <a href=\"/issues/" + other.ID}},
		{"/analyze", nil, 200, []string{"Cancel its work"}},
		{"/merge", []string{"into", "T-1001"}, 422, []string{`id="fault-into"`}},
		{"/merge", []string{"into", "T-1002"}, 200, []string{"was merged into another"}},
		{"/delete", nil, 200, []string{"The issue is deleted."}},
	} {
		has(t, h.post(c.status, at+c.path, c.form...), c.has...)
	}
	h.get(http.StatusNotFound, at)
}

// TestLostUpdates checks that a form does not overwrite a change that another user made after the form was opened.
func TestLostUpdates(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(org, triage.Draft{Title: "A", Category: "booking", Severity: triage.SeverityLow, Status: triage.StatusTodo})
	at := "/issues/" + i.ID
	has(t, h.get(http.StatusOK, at), `<input type="hidden" name="version" value="1">`)
	changed, err := h.Update(t.Context(), org, bob, i.ID, triage.Change{Status: new(triage.StatusInReview), Title: new("B")})
	if err != nil {
		t.Fatal(err)
	}
	stale := []string{"version", "1", "status", "todo", "severity", "low", "assignee_id", "ada", "title", "A", "category", "date"}
	text := h.post(http.StatusUnprocessableEntity, at+"/change", stale...)
	has(t, text, "Nothing was saved", `<option value="in_review" selected>`, `name="version" value="2"`)
	text = h.post(http.StatusUnprocessableEntity, at+"/edit", stale...)
	has(t, text, "Nothing was saved", `name="version" value="2"`, "<strong>Title</strong>: B → A", "<strong>Status</strong>: in review → todo",
		"<strong>Category</strong>: booking → date", "<strong>Assignee</strong>: nothing → ada")
	hasNot(t, text, "<strong>Severity</strong>")
	has(t, h.post(http.StatusUnprocessableEntity, at+"/edit", "version", "2", "title", ""), `id="fault-title"`, `name="version" value="2"`)
	if now, err := h.Get(t.Context(), org, i.ID); err != nil || now != changed {
		t.Errorf("got %+v, %v; want %+v", now, err, changed)
	}
	stale[1] = "2"
	has(t, h.post(http.StatusOK, at+"/edit", stale...), "T-1001 is changed.", "in review → todo")
}

// TestFaultsKeepPages checks that the page that answers a faulty form keeps the submitted values, and that its link to older entries works.
func TestFaultsKeepPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(org, triage.Draft{Title: "A"})
	for range 60 {
		if _, err := h.Comment(t.Context(), org, bob, i.ID, triage.CommentDraft{Detail: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	text := h.post(http.StatusUnprocessableEntity, "/issues/"+i.ID+"/relations", "related", "T-9", "relation_type", "duplicate_of")
	has(t, text, `<option value="duplicate_of" selected>`)
	_, next, _ := strings.Cut(text, `<nav class="pager" aria-label="Pages"><a href="`)
	next, _, _ = strings.Cut(next, `"`)
	has(t, h.get(http.StatusOK, next), "opened the issue")
}

// TestNames checks that pages show the names of assignees and owners, and request them once per page.
func TestNames(t *testing.T) {
	t.Parallel()
	var asked []string
	h := open(t, func(_ *triage.Config, c *issues.Config) {
		c.Names = func(_ context.Context, of callwright.OrgID, ids []string) (map[string]string, error) {
			asked = append(asked, fmt.Sprint(of, ids))
			return map[string]string{"bob": "Bob <b>", "eve": "Eve"}, nil
		}
	})
	i := h.issue(org, triage.Draft{Title: "A", AssigneeID: "bob", OwnerID: "unknown"})
	h.issue(org, triage.Draft{Title: "B", AssigneeID: "bob"})
	h.issue(org, triage.Draft{Title: "C"})
	has(t, h.get(http.StatusOK, "/issues"), "<td>Bob &lt;b&gt;</td>", "<td>–</td>")
	if _, err := h.Update(t.Context(), org, bob, i.ID, triage.Change{AssigneeID: new("eve")}); err != nil {
		t.Fatal(err)
	}
	has(t, h.get(http.StatusOK, "/issues/"+i.ID), "<dd>Eve</dd>", "<dd>unknown</dd>", "Bob &lt;b&gt; → Eve")
	if want := []string{"acme[bob]", "acme[bob eve unknown]"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(org, triage.Draft{Title: "A"})
	write := func(by triage.Actor) string {
		e, err := h.Comment(t.Context(), org, by, i.ID, triage.CommentDraft{Detail: "written by " + by.ID})
		if err != nil {
			t.Fatal(err)
		}
		return "/issues/" + i.ID + "/comments/" + e.ID
	}
	own, foreign := write(ada), write(bob)
	has(t, h.get(http.StatusOK, own), "Save", "Delete this comment?")
	hasNot(t, h.get(http.StatusOK, foreign), "Save")
	h.post(http.StatusForbidden, foreign, "detail", "forged")
	h.post(http.StatusForbidden, foreign+"/delete")
	has(t, h.post(http.StatusUnprocessableEntity, own, "detail", ""), `id="fault-detail"`)
	text := h.post(http.StatusOK, own, "detail", "written anew")
	has(t, text, "written anew", "edited", "written by bob")
	hasNot(t, text, "written by ada")
	hasNot(t, h.post(http.StatusOK, own+"/delete"), "written anew")
	h.get(http.StatusNotFound, own)
}

func TestForeign(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue("other", triage.Draft{Title: "Foreign"})
	for _, path := range []string{"", "/edit", "/comments/x"} {
		h.get(http.StatusNotFound, "/issues/"+i.ID+path)
	}
	for _, path := range []string{
		"/change", "/accept", "/decline", "/take", "/delete", "/comments", "/comments/x", "/comments/x/delete", "/attachments", "/attachments/x/remove", "/flags",
		"/flags/x/remove", "/relations", "/relations/x/remove", "/merge", "/analyze", "/sessions/x/answer", "/sessions/x/cancel",
	} {
		h.post(http.StatusNotFound, "/issues/"+i.ID+path, "status", "todo", "severity", "low", "comment", "a", "detail", "a",
			"resource_type", "call", "resource_id", "c1", "flag_call", "c1", "flag_type", "a", "answer", "a",
			"related", "T-1001", "relation_type", "blocks", "into", "T-1001")
	}
}

// hostile is Markdown that tries to run scripts, to load content from another server, or to change the page.
const hostile = `<script>alert(1)</script> <img src=x onerror=alert(2)> [go](javascript:alert(3)) [go](JaVaScRiPt&colon;alert(4))
![pic](https://evil.example/p.png) <a href="javascript:alert(5)" onclick="alert(6)">x</a> <iframe src="//evil.example"></iframe>
[data](data:text/html,<script>alert(7)</script>) <javascript:alert(8)> <style>*{display:none}</style> <form action="/issues"></form>

# Heading

[good](https://good.example/a?b=1&c=2) and ` + "`<b>code</b>`"

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(org, triage.Draft{Title: "<script>alert(9)</script>", Description: hostile, Category: `"><script>alert(10)</script>`})
	if _, err := h.Comment(t.Context(), org, bob, i.ID, triage.CommentDraft{Detail: hostile}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Attach(t.Context(), org, bob, i.ID, triage.ResourceDraft{Type: triage.ResourceCall, ResourceID: "c1"}); err != nil {
		t.Fatal(err)
	}
	h.agent(i.ID, map[string]any{
		"root_cause": hostile, "suggestion": hostile, "confidence": "<script>", "evidence": []any{
			map[string]any{"resource_type": "call", "resource_id": "../c1?<", "line": 0, "text": "<script>alert(11)</script>"},
		},
	})
	text := h.get(http.StatusOK, "/issues/"+i.ID)
	hasNot(t, strings.ReplaceAll(text, `<script type="module" src="`, ""), "<script", "<img", "<iframe", "<style", "onerror=\"", "onclick=\"",
		`href="javascript`, `href="JaVa`, `href="data`, `action="/issues"`)
	if bad := regexp.MustCompile(`(?i)<[^>]*(onerror|onclick|javascript:|data:)[^>]*>`).FindString(text); bad != "" {
		t.Errorf("the page has %s", bad)
	}
	has(t, text, `<a href="https://good.example/a?b=1&amp;c=2" rel="nofollow noreferrer">good</a>`, "<strong>Heading</strong>",
		"<code>&lt;b&gt;code&lt;/b&gt;</code>", `href="/calls/..%2Fc1%3F%3C"`)
}

// agent starts an agent's session for an issue. The session appends a thought, a root cause with the given payload, and a table.
func (h *house) agent(id string, payload map[string]any) {
	h.t.Helper()
	s, err := h.StartSession(h.t.Context(), org, bob, id, triage.SessionDraft{AgentName: "Agent <script>"})
	if err != nil {
		h.t.Fatal(err)
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = h.Append(h.t.Context(), org, id, s.ID,
		triage.Step{Type: triage.TypeThought, Detail: "<script>alert(12)</script> [go](javascript:alert(13))"},
		triage.Step{Type: triage.TypeArtifact, Artifact: &triage.Artifact{
			Type: "root_cause", Title: "Root cause", Status: triage.ArtifactReady, Payload: raw, URLs: []string{"https://good.example/report"},
		}},
		triage.Step{Type: triage.TypeArtifact, Artifact: &triage.Artifact{
			Type: "table", Title: "<script>", Status: triage.ArtifactReady, Payload: json.RawMessage(`{"a":"<script>"}`),
		}})
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestFeedIsLive(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(org, triage.Draft{Title: "A"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/issues/"+i.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	until := func(want string) {
		t.Helper()
		var b strings.Builder
		for chunk := make([]byte, 4096); !strings.Contains(b.String(), want); {
			n, err := answer.Body.Read(chunk)
			if b.Write(chunk[:n]); err != nil {
				t.Fatalf("%v before %q in\n%s", err, want, b.String())
			}
		}
	}
	until("opened the issue")
	if _, err := h.Comment(t.Context(), org, bob, i.ID, triage.CommentDraft{Detail: "fresh news"}); err != nil {
		t.Fatal(err)
	}
	until("fresh news")
}
