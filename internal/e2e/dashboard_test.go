package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// hostile is a text from a stranger. A page that executes any part of it opens a dialog.
const hostile = `x"'><script>alert(1)</script><img src=x onerror=alert(2)><a href=javascript:alert(3)>y</a>{{.}}`

// signIn opens the dashboard and signs in with the server's key.
func signIn(t *testing.T, s *server.Server) *browser.Page {
	t.Helper()
	p := browser.Open(t, true)
	p.Go(t, s.Dashboard+"/")
	p.Type(t, "#key", s.Key)
	p.Click(t, "button.main")
	p.Await(t, "form[action='/logout']")
	return p
}

// write sends a request that writes to the API, and returns the answer's data, or the answer itself if it has no data. It fails the test if
// the request is refused. path is relative to /v1.
func write(t *testing.T, s *server.Server, method, path string, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/v1"+path, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]any
	if err := json.Unmarshal(said, &read); err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, said)
	}
	if data, ok := read["data"].(map[string]any); ok {
		return data
	}
	return read
}

// furnish creates a trunk to a phone, a call with a recording, a test call, speech, an issue, a pathway and a chat. Most of their texts are
// hostile.
func furnish(t *testing.T, s *server.Server, phone *baresip.Phone) {
	t.Helper()
	s.AttachOutbound(t, ours.String(), phone.Server())
	s.AttachInbound(t, ours.String())
	call := s.Call(t, callsoas.CallCreate{
		PhoneNumber: theirs.String(), From: callsoas.NewOptString(ours.String()), Record: callsoas.NewOptBool(true),
		Task: callsoas.NewOptString(hostile), FirstSentence: callsoas.NewOptString("Good morning. " + hostile),
		Metadata: callsoas.NewOptMetadata(callsoas.Metadata{hostile: []byte(`"<script>alert(4)</script>"`)}),
	})
	phone.Await(t, "CALL_ESTABLISHED", 1)
	s.Until(t, call, "first line", func(r *callsoas.CallRecord) bool { return len(r.Transcripts) > 0 })
	s.StopCall(t, call)
	s.Ended(t, call)
	s.TestCall(t, ours.String())

	issue := write(t, s, http.MethodPost, "/triage/issues", map[string]any{"title": hostile, "description": hostile})
	s.Comment(t, fmt.Sprint(issue["id"]), hostile+"\n\n[link](javascript:alert(5)) **bold**")
	write(t, s, http.MethodPost, "/speak", map[string]any{"text": "Good evening. " + "<script>alert(6)</script>"})
	made := write(t, s, http.MethodPost, "/pathway/create", map[string]any{"name": hostile, "description": hostile})
	write(t, s, http.MethodPost, "/pathway/"+fmt.Sprint(made["pathway_id"]), map[string]any{"nodes": []any{
		map[string]any{"id": "a", "type": "Default", "data": map[string]any{"name": hostile, "isStart": true, "text": hostile}},
		map[string]any{"id": "b", "type": "End Call", "data": map[string]any{"name": "End", "text": "Goodbye."}},
	}, "edges": []any{
		map[string]any{"id": "e", "source": "a", "target": "b", "data": map[string]any{"label": "<script>alert(7)</script>"}},
	}})
	chat := write(t, s, http.MethodPost, "/pathway/chat/create", map[string]any{
		"pathway_id": made["pathway_id"], "request_data": map[string]any{"<script>alert(8)</script>": hostile},
	})
	s.Say(t, fmt.Sprint(chat["chat_id"]), hostile+" <script>alert(9)</script>")
}

// same matches path segments that contain a digit, such as ids. crawl replaces them, so that all pages of one kind have the same path.
var same = regexp.MustCompile(`/[^/]*\d[^/]*`)

// crawl follows the dashboard's links, and calls the function each on every page that it opens. It opens at most two pages of each kind, at
// most eight pages below one path, and at most 90 pages in total.
func crawl(t *testing.T, p *browser.Page, s *server.Server, each func(path string)) {
	t.Helper()
	const most = 90
	kinds, seen, queue := map[string]int{}, map[string]bool{"/": true, "/calls": true}, []string{"/", "/calls"}
	for n := 0; len(queue) > 0 && n < most; n++ {
		path := queue[0]
		queue = queue[1:]
		if status := p.Go(t, s.Dashboard+path); status != http.StatusOK {
			t.Errorf("%s is answered %d: %s", path, status, p.Text(t, "main"))
			continue
		}
		each(path)
		for _, link := range browser.Eval[[]string](t, p, `[...document.querySelectorAll("main a[href]:not([download]), nav a[href]")].map(a => new URL(a.getAttribute("href"), location).href)`) {
			u, err := url.Parse(link)
			if err != nil || !strings.HasPrefix(link, s.Dashboard+"/") || regexp.MustCompile(`^/(v1|docs)/|\.(wav|pdf|json)$|/(audio|recording|letter)$`).MatchString(u.Path) {
				continue
			}
			kind := same.ReplaceAllString(u.Path, "/*") + "?" + strings.Join(slices.Sorted(maps.Keys(u.Query())), "&")
			above := kind[:strings.LastIndex(kind, "/")] // also limits kinds without digits, such as the pages of voices
			if next := u.RequestURI(); !seen[next] && kinds[kind] < 2 && kinds[above] < 8 {
				seen[next] = true
				kinds[kind]++
				kinds[above]++
				queue = append(queue, next)
			}
		}
	}
}

// TestDashboardPages opens pages of every kind of a deployment that contains hostile texts. It checks that no page executes them, reports
// errors, or breaks a rule of HTML or accessibility, in light and dark colors and on a narrow screen.
func TestDashboardPages(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Also: ours.String()})
	s := start(t, ca.CertFile())
	furnish(t, s, phone)
	p := signIn(t, s)
	p.Resize(t, 1280, 900)
	p.Go(t, s.Dashboard+"/trunks/new")
	follow(t, p, `button[value="outbound"]`, "#destination")
	p.Type(t, "#destination", "pbx.example.com")
	follow(t, p, `button[name="skip"]`, "#addresses")
	sources := map[string]string{}
	crawl(t, p, s, func(path string) {
		sources[path] = browser.Eval[string](t, p, "fetch(location.href).then(r => r.text())")
		for _, dark := range []bool{false, true} {
			p.Dark(t, dark)
			for _, v := range p.Axe(t, "html") {
				t.Errorf("%s, dark %t: %s", path, dark, v)
			}
		}
		p.Dark(t, false)
		p.Resize(t, 320, 640)
		if wide := browser.Eval[int](t, p, "document.documentElement.scrollWidth"); wide > 320 {
			t.Errorf("%s is %d pixels wide on a screen of 320", path, wide)
		}
		for _, v := range p.Axe(t, "html") {
			t.Errorf("%s on a narrow screen: %s", path, v)
		}
		p.Resize(t, 1280, 900)
	})
	if len(sources) < 10 {
		t.Errorf("only %d pages were found", len(sources))
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(sources)), func(path string) bool { return strings.Contains(path, "/chats/") }) {
		t.Error("no chat with a pathway was found")
	}
	for _, f := range browser.Validate(t, sources) {
		t.Error(f)
	}
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
	if found := p.Dialogs(t); len(found) > 0 {
		t.Errorf("a text of a stranger ran: %q", found)
	}
	t.Logf("%d pages: %q", len(sources), slices.Sorted(maps.Keys(sources)))
	s.Stop(t)
}
