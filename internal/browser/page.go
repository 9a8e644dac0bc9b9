package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// screenshots is the environment variable with the folder for pictures that outlive the test.
const screenshots = "CALLWRIGHT_SCREENSHOTS"

// Eval evaluates a JavaScript expression in the page and returns its value. It awaits a promise. The page's content security policy does
// not apply.
func Eval[T any](t testing.TB, p *Page, expression string) T {
	t.Helper()
	return run(t, p, "evaluating "+shorten(expression), chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// shorten returns the last 200 bytes of a text, for messages.
func shorten(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return "... " + s[len(s)-most:]
}

// Dark sets whether the browser reports a preference for dark colors.
func (p *Page) Dark(t testing.TB, dark bool) {
	t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	command(t, p, "choosing "+scheme, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// Timezone sets the time zone of the browser, such as "America/New_York".
func (p *Page) Timezone(t testing.TB, zone string) {
	t.Helper()
	command(t, p, "changing to "+zone, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
}

// Upload chooses a file for a file input.
func (p *Page) Upload(t testing.TB, selector, file string) {
	t.Helper()
	p.do(t, "choosing a file in "+selector, chromedp.SetUploadFiles(selector, []string{file}))
}

// Select waits for a list, chooses its option with this value, and fires the events that scripts expect.
func (p *Page) Select(t testing.TB, selector, value string) {
	t.Helper()
	p.Await(t, selector)
	arguments, err := json.Marshal([]string{selector, value})
	if err != nil {
		t.Fatal(err)
	}
	found := Eval[bool](t, p, `(([selector, value]) => {
		const list = document.querySelector(selector);
		if (![...list.options].some((o) => o.value === value && !o.disabled)) return false;
		list.value = value;
		for (const kind of ["input", "change"]) list.dispatchEvent(new Event(kind, {bubbles: true}));
		return true;
	})(`+string(arguments)+`)`)
	if !found {
		t.Fatalf("%s has no option %q", selector, value)
	}
}

// Press presses keys in the focused element. Package kb defines keys such as kb.Enter.
func (p *Page) Press(t testing.TB, keys string, modifiers ...chromedp.Modifier) {
	t.Helper()
	p.do(t, "pressing keys", chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// HTML returns the source of the document as the server sent it, without changes by scripts.
func (p *Page) HTML(t testing.TB) string {
	t.Helper()
	frame := command(t, p, "finding the document", page.GetFrameTree, cdp.Empty{}).FrameTree.Frame
	source := command(t, p, "reading the source", page.GetResourceContent, page.GetResourceContentParams{FrameID: frame.ID, URL: frame.URL})
	return string(source.Content)
}

// Screenshot returns a picture of the whole page as a PNG file.
func (p *Page) Screenshot(t testing.TB) []byte {
	t.Helper()
	return run(t, p, "taking a picture", chromedp.FullScreenshot(100))
}

// Picture writes a picture of the whole page to a PNG file with the given name, without extension, and returns the path. The file is in the
// folder CALLWRIGHT_SCREENSHOTS, or else in the test's artifact folder.
func (p *Page) Picture(t testing.TB, name string) string {
	t.Helper()
	return write(t, name, p.Screenshot(t))
}

// Window writes a picture of the visible part of the page, like Picture.
func (p *Page) Window(t testing.TB, name string) string {
	t.Helper()
	return write(t, name, run(t, p, "taking a picture", chromedp.CaptureScreenshot()))
}

// write writes a picture and returns its path. The name must not contain slashes.
func write(t testing.TB, name string, png []byte) string {
	t.Helper()
	if name == "" || strings.ContainsAny(name, `/\`) {
		t.Fatalf("%q is not the name of a picture", name)
	}
	folder := os.Getenv(screenshots)
	if folder == "" {
		folder = t.ArtifactDir()
	}
	path := filepath.Join(folder, name+".png")
	if err := os.MkdirAll(folder, 0o750); err != nil { //nolint:gosec // the environment of the tests names the folder
		t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o600); err != nil { //nolint:gosec // the same
		t.Fatal(err)
	}
	return path
}
