package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/callwright/callwright/internal/browser"
)

// serve serves a page with a strict content security policy that allows only the script at /script.js, and returns its URL.
func serve(t *testing.T, html, script string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; form-action 'self'")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, html)
		case "/script.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, script)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const controls = `<!DOCTYPE html><html lang="en"><head><title>ü</title></head><body><p id="p">x<p>implied
<input id="file" type="file"><input id="text"><input id="next">
<select id="list"><option value="a">A</option><option value="b">B</option></select>
<script src="script.js"></script></body></html>`

func TestControls(t *testing.T) {
	t.Parallel()
	url := serve(t, controls, `document.getElementById("list").addEventListener("change", (e) => { document.title = e.target.value; });`)
	p := browser.Open(t, true)
	p.Go(t, url)

	if got := p.HTML(t); got != controls {
		t.Errorf("the source is %q", got)
	}
	for _, dark := range []bool{true, false} {
		p.Dark(t, dark)
		if got := browser.Eval[bool](t, p, `matchMedia("(prefers-color-scheme: dark)").matches`); got != dark {
			t.Errorf("dark is %t, want %t", got, dark)
		}
	}
	for _, zone := range []string{"America/New_York", "Asia/Kolkata"} {
		p.Timezone(t, zone)
		want := map[string]int{"America/New_York": 300, "Asia/Kolkata": -330}[zone]
		if got := browser.Eval[int](t, p, `new Date("2026-01-01T00:00:00Z").getTimezoneOffset()`); got != want {
			t.Errorf("%s is %d minutes behind UTC, want %d", zone, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "bill.txt")
	if err := os.WriteFile(file, []byte("a bill"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Upload(t, "#file", file)
	if got := browser.Eval[string](t, p, `document.getElementById("file").files[0].text()`); got != "a bill" {
		t.Errorf("the chosen file holds %q", got)
	}
	p.Select(t, "#list", "b")
	if got := browser.Eval[string](t, p, `document.title`); got != "b" {
		t.Errorf("the script was told of %q", got)
	}
	p.Click(t, "#text")
	p.Press(t, "ab"+kb.Backspace+kb.Tab+"c")
	if got := browser.Eval[[]string](t, p, `["text", "next"].map((id) => document.getElementById(id).value)`); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("the fields hold %q", got)
	}
	if got := append(p.Errors(t), p.Dialogs(t)...); len(got) > 0 {
		t.Errorf("a page without errors has %q", got)
	}
}

// failing is a page that can cause each error and dialog that Errors and Dialogs must report.
const failing = `<!DOCTYPE html><title>t</title><button id="throw">throw</button><button id="ask">ask</button>
<img src="missing.png" alt=""><script>alert("inline")</script><script src="script.js"></script>`

func TestErrors(t *testing.T) {
	t.Parallel()
	url := serve(t, failing, `
		console.error("a complaint", 7); console.log("a remark"); alert("open");
		document.getElementById("throw").onclick = () => { throw new Error("thrown"); };
		document.getElementById("ask").onclick = () => { document.title = String(confirm("sure?")); };
		Promise.reject(new Error("unhandled"));
		fetch("https://example.com/");`)
	p := browser.Open(t, true)
	p.Go(t, url)
	p.Click(t, "#throw")
	for _, accept := range []bool{false, true} {
		p.AcceptDialogs(accept)
		p.Click(t, "#ask")
		if got := browser.Eval[bool](t, p, `document.title === "true"`); got != accept {
			t.Errorf("the dialog was accepted: %t, want %t", got, accept)
		}
	}
	if got, want := p.Dialogs(t), []string{"alert: open", "confirm: sure?", "confirm: sure?"}; !slices.Equal(got, want) {
		t.Errorf("dialogs %q, want %q", got, want)
	}
	got := p.Errors(t)
	for source, part := range map[string]string{"console: ": `a complaint`, "exception: ": "Error: thrown", "security: ": "inline script"} {
		if !slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, source) && strings.Contains(e, part) }) {
			t.Errorf("no error begins with %q and has %q in %q", source, part, got)
		}
	}
	for _, part := range []string{"unhandled", "connect", "img-src"} {
		if !slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, part) }) {
			t.Errorf("no error has %q in %q", part, got)
		}
	}
	if slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, "a remark") }) {
		t.Errorf("a remark is no error: %q", got)
	}
}

func TestTab(t *testing.T) {
	t.Parallel()
	url := serve(t, controls, "")
	p := browser.Open(t, true)
	p.Go(t, url)
	other := p.Tab(t)
	other.Go(t, url)
	browser.Eval[string](t, other, `document.cookie = "shared=1"`)
	if got := browser.Eval[string](t, p, `document.cookie`); !strings.Contains(got, "shared=1") {
		t.Errorf("the first tab has the cookies %q", got)
	}
	browser.Eval[int](t, other, `(console.error("here"), 1)`)
	if first, second := p.Errors(t), other.Errors(t); len(first) != 0 || len(second) != 1 {
		t.Errorf("the tabs have the errors %q and %q", first, second)
	}
	for _, tab := range []*browser.Page{p, other} {
		if got := browser.Eval[string](t, tab, `document.visibilityState`); got != "visible" {
			t.Errorf("a tab is %s", got)
		}
	}
}

func TestPicture(t *testing.T) { //nolint:paralleltest // sets a variable of the environment
	p := browser.Open(t, true)
	p.Go(t, serve(t, controls, ""))
	folder := filepath.Join(t.TempDir(), "pictures")
	for variable, want := range map[string]string{folder: folder, "": t.ArtifactDir()} {
		t.Setenv("CALLWRIGHT_SCREENSHOTS", variable)
		path := p.Picture(t, "controls")
		if content, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(content), "\x89PNG") {
			t.Errorf("the picture has %d bytes: %v", len(content), err)
		}
		if path != filepath.Join(want, "controls.png") {
			t.Errorf("with %q the picture is %s", variable, path)
		}
	}
}
