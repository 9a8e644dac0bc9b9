package dashboard_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// hostile returns a text that opens a dialog with the number n, unless it is escaped.
func hostile(n int) string {
	return fmt.Sprintf(`"'><script>alert(%[1]d)</script><img src=x onerror=alert(%[1]d)>[y](javascript:alert(%[1]d))`, n)
}

// numbers matches hostile texts and captures their numbers.
var numbers = regexp.MustCompile(`<script>alert\((\d+)\)`)

// foreign is a script that counts elements of a page that no template contains.
const foreign = `document.querySelectorAll("script:not([type=module][src]), img, iframe, style, [onerror], [href^='javascript:' i], [action^='javascript:' i]").length`

// TestHostileTexts opens every page of an organization in which all texts from callers, callees, models, SIP peers, servers and users are
// hostile. It also opens pages with hostile queries, cookies and file names. No text may run as script or make an element.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	h := open(t)
	written := 0
	h.say = func(string) string { written++; return hostile(written) }
	theirs := h.furnish(owner, "+14155550100")
	if _, err := h.config.Letters.Decline(t.Context(), h.letters[owner], h.say("No"), loa.Origin{IP: "192.0.2.9", UserAgent: h.say("browser")}); err != nil {
		t.Fatal(err)
	}
	var paths []string
	theOwner, _ := h.serve(func(r *page.Route) {
		path, isGet := strings.CutPrefix(r.Pattern, "GET ")
		if isGet && !regexp.MustCompile(`/(recording|audio|letter.pdf|evidence.json|documents/\{document\})$`).MatchString(path) {
			paths = append(paths, address(t, strings.TrimSuffix(path, "{$}"), theirs, theirs))
		}
	})
	for _, step := range []string{"destination", "discovery", "firewall", "authentication", "numbers"} {
		paths = append(paths, "/trunks/new/"+step+"?setup=setup-"+string(owner))
	}
	typed := url.QueryEscape(h.say("typed"))
	for _, path := range []string{
		"/calls?from_number=", "/calls?start_date=", "/calls/new?phone_number=", "/issues?search=", "/issues?cursor=", "/tests?pathway_id=", "/tests?category=",
		"/ports/check?numbers=", "/ports/new?numbers=", "/ports?status=", "/speech?voice=", "/speech/samples?voice=", "/trunks?number=",
	} {
		paths = append(paths, path+typed)
	}
	p := browser.Open(t, true)
	p.Go(t, theOwner.url+"/calls")
	seen := map[string]bool{}
	look := func(at string) {
		t.Helper()
		if n := browser.Eval[int](t, p, foreign); n > 0 {
			t.Errorf("%s has %d elements that a text has made", at, n)
		}
		shown := browser.Eval[string](t, p, `document.documentElement.textContent + [...document.querySelectorAll("input")].map(i => i.value).join()`)
		for _, found := range numbers.FindAllStringSubmatch(shown, -1) {
			seen[found[1]] = true
		}
	}
	sources := map[string]string{}
	for _, path := range paths {
		browser.Eval[string](t, p, fmt.Sprintf("document.cookie = 'callwright_notice=' + encodeURIComponent(%q)", hostile(0)))
		p.Go(t, theOwner.url+path)
		look(path)
		sources[path] = theOwner.send(path, nil).Body
	}
	if !seen["0"] {
		t.Error("no notice was shown")
	}
	file := filepath.Join(t.TempDir(), `"'><img src=x onerror=alert(1000)>.wav`)
	if err := os.WriteFile(file, []byte("no audio"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Go(t, theOwner.url+"/speech/clone")
	p.Type(t, "#name", "A voice")
	p.Upload(t, "#audio_samples", file)
	p.Click(t, "main button.main")
	p.Await(t, "#fault-audio_samples")
	look("a refused file")

	for _, fault := range browser.Validate(t, sources) {
		t.Error(fault)
	}
	if found := p.Dialogs(t); len(found) > 0 {
		t.Errorf("a text of a stranger ran: %q", found)
	}
	network := func(text string) bool { return strings.HasPrefix(text, "network: ") } // the status of a page with faults is 400 or 422
	if found := slices.DeleteFunc(p.Errors(t), network); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
	var hidden []int
	for n := range written + 1 {
		if !seen[fmt.Sprint(n)] {
			hidden = append(hidden, n)
		}
	}
	if len(hidden) > written/4 {
		t.Errorf("of %d texts the pages do not show %d", written, hidden)
	}
	t.Logf("of %d texts the pages do not show %d", written, hidden)
}
