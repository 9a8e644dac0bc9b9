// Package browser controls a headless Chromium in tests, with the actions of a person at a keyboard.
package browser

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/callwright/callwright/internal/await"
)

// limit is the time limit of an action. Only a broken run comes near it.
const limit = 90 * time.Second

// Page is a tab of a browser. Its methods fail the test if an action fails or exceeds the time limit.
type Page struct {
	ctx     context.Context //nolint:containedctx // chromedp keeps a tab in its context
	scripts bool
	seen    *record
}

// Open starts a browser with an empty profile, and closes it at the end of the test. If scripts is false, the browser runs no scripts of
// the page.
func Open(t testing.TB, scripts bool) *Page {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: run scripts/install-deps.sh test", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil {
			t.Errorf("ending the browser: %v", err)
		}
		closeTab()
		stop()
	})
	return (&Page{ctx: tab, scripts: scripts, seen: &record{}}).start(t)
}

// Tab opens a second window with the same profile and cookies, and closes it at the end of the test.
func (p *Page) Tab(t testing.TB) *Page {
	t.Helper()
	tab, closeTab := chromedp.NewContext(p.ctx, chromedp.WithNewWindow(true))
	t.Cleanup(closeTab)
	return (&Page{ctx: tab, scripts: p.scripts, seen: &record{}}).start(t)
}

// start opens the tab and begins to record its events.
func (p *Page) start(t testing.TB) *Page {
	t.Helper()
	command(t, p, "opening a tab", emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !p.scripts})
	if err := chromedp.Listen(p.ctx, func(event any) { p.seen.note(p.ctx, event) }); err != nil {
		t.Fatalf("listening to the tab: %v", err)
	}
	return p
}

// command sends a command of the DevTools protocol to the tab and returns its result.
func command[P, R any](t testing.TB, p *Page, what string, c cdp.Command[P, R], params P) R {
	t.Helper()
	return run(t, p, what, func(ctx context.Context, _ *chromedp.Target) (R, error) { return chromedp.Call(ctx, c, params) })
}

// do runs an action without a result. The parameter what names the action in failures.
func (p *Page) do(t testing.TB, what string, step chromedp.Action[chromedp.Void]) {
	t.Helper()
	run(t, p, what, step)
}

func run[T any](t testing.TB, p *Page, what string, step chromedp.Action[T]) T {
	t.Helper()
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := chromedp.Run(p.ctx, step)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			t.Fatalf("%s: %v", what, o.err)
		}
		return o.value
	case <-time.After(limit):
		t.Fatalf("%s: it did not come about in %v", what, limit)
	}
	panic("unreachable")
}

// Go loads a page and returns its HTTP status.
func (p *Page) Go(t testing.TB, url string) int {
	t.Helper()
	return int(run(t, p, "loading a page", chromedp.NavigateResponse(url)).Status)
}

// Text returns the visible text of an element.
func (p *Page) Text(t testing.TB, selector string) string {
	t.Helper()
	return run(t, p, "reading "+selector, chromedp.Text(selector))
}

// Attribute returns an attribute of an element, or "" if the element lacks it.
func (p *Page) Attribute(t testing.TB, selector, name string) string {
	t.Helper()
	return run(t, p, "reading "+selector, chromedp.AttributeValue(selector, name)).Value
}

// Checked reports whether a checkbox or radio button is checked.
func (p *Page) Checked(t testing.TB, selector string) bool {
	t.Helper()
	return run(t, p, "reading "+selector, chromedp.JavascriptAttribute[bool](selector, "checked"))
}

// Empty clears a text field.
func (p *Page) Empty(t testing.TB, selector string) {
	t.Helper()
	p.do(t, "emptying "+selector, chromedp.Clear(selector))
}

// Type types a text into a field, after its present content.
func (p *Page) Type(t testing.TB, selector, text string) {
	t.Helper()
	p.do(t, "typing into "+selector, chromedp.SendKeys(selector, text))
}

// Click clicks an element, after it has become visible.
func (p *Page) Click(t testing.TB, selector string) {
	t.Helper()
	p.do(t, "clicking at "+selector, chromedp.Click(selector))
}

// Await waits until an element is visible, for example after a click that loads another page. It polls, because chromedp's own wait would
// not survive a reload of the page.
func (p *Page) Await(t testing.TB, selector string) {
	t.Helper()
	name, err := json.Marshal(selector)
	if err != nil {
		t.Fatal(err)
	}
	await.That(t, selector+" to be seen", func() bool {
		seen, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`document.readyState !== "loading" && document.querySelector(`+string(name)+`)?.checkVisibility() === true`))
		return err == nil && seen // Evaluate fails while the browser unloads the page
	})
}

// Resize sets the size of the window, in CSS pixels.
func (p *Page) Resize(t testing.TB, width, height int) {
	t.Helper()
	p.do(t, "resizing", chromedp.EmulateViewport(int64(width), int64(height)))
}
