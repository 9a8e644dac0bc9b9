package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// dialable starts a server and a phone, and attaches a number to an outbound trunk that leads to the phone.
func dialable(t *testing.T) (*server.Server, *baresip.Phone) {
	t.Helper()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Also: ours.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	return s, phone
}

// keep marks a page, so that kept can report whether the page was reloaded since.
func keep(t *testing.T, p *browser.Page) { browser.Eval[bool](t, p, "window.kept = true") }
func kept(t *testing.T, p *browser.Page) bool {
	return browser.Eval[bool](t, p, "window.kept === true")
}

// reads reports whether the text of an element contains the given text.
func reads(t *testing.T, p *browser.Page, selector, text string) bool {
	t.Helper()
	return browser.Eval[bool](t, p, fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q) === true", selector, text))
}

// TestDashboardLiveCalls checks that a call appears in an open list and moves to the ended calls without a reload. The browser's time zone
// is India's, because the list must show local times.
func TestDashboardLiveCalls(t *testing.T) {
	t.Parallel()
	s, phone := dialable(t)
	p := signIn(t, s)
	second := p.Tab(t)
	second.Timezone(t, "Asia/Kolkata")
	second.Go(t, s.Dashboard+"/calls")
	keep(t, second)
	call := s.Call(t, callsoas.CallCreate{
		PhoneNumber: theirs.String(), From: callsoas.NewOptString(ours.String()), Task: callsoas.NewOptString("Ask for the day."),
	})
	link := fmt.Sprintf(`a[href="/calls/%s"]`, call)
	second.Await(t, "#live-running "+link)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	await.That(t, "the call to be shown as answered", func() bool { return reads(t, second, "#live-running", "talking") })
	at, err := time.Parse(time.RFC3339, second.Attribute(t, "#live-running "+link+" time", "datetime"))
	if err != nil {
		t.Fatal(err)
	}
	local := at.In(time.FixedZone("", 5*3600+1800)).Format(time.DateTime)
	if !reads(t, second, "#live-running "+link, local) {
		t.Errorf("the time is %q, want %q", second.Text(t, "#live-running "+link), local)
	}
	if title := second.Attribute(t, "#live-running "+link+" time", "title"); title != at.UTC().Format(time.DateTime)+" UTC" {
		t.Errorf("the title of the time is %q", title)
	}
	phone.Hangup(t)
	second.Await(t, "#live-ended "+link)
	if reads(t, second, "#live-running", "talking") || !reads(t, second, "#live-ended", "the other side hung up") || !kept(t, second) {
		t.Errorf("after the call the list is %q", second.Text(t, "main"))
	}
	s.Stop(t)
}

// TestDashboardLiveIssue opens an issue in two windows. It checks that changes in one window appear in the other, and that they do not
// affect a form that is being filled in.
func TestDashboardLiveIssue(t *testing.T) {
	t.Parallel()
	s := start(t, authority(t).CertFile())
	p := signIn(t, s)
	id := s.OpenIssue(t, "Wrong date")
	page := s.Dashboard + "/issues/" + id
	p.Go(t, page)
	second := p.Tab(t)
	second.Go(t, page)
	second.Await(t, "#live-feed li")
	keep(t, second)
	p.Type(t, "#comment", "The caller **asked** twice.")
	follow(t, p, `form[action$="/comments"] button`, "#live-feed .md strong")
	await.That(t, "the comment in the other window", func() bool { return reads(t, second, "#live-feed .md strong", "asked") })
	browser.Eval[bool](t, p, `document.getElementById("status").focus() === undefined`)
	p.Select(t, "#status", "in_review")
	s.Comment(t, id, "Once more.")
	await.That(t, "the comment of somebody else", func() bool { return reads(t, p, "#live-feed", "Once more.") })
	p.Press(t, kb.Tab+kb.Tab+kb.Tab) // moves past severity and assignee to the button
	p.Press(t, kb.Enter)
	await.That(t, "the status in the other window", func() bool {
		return reads(t, second, "#live-feed", "in review") && reads(t, second, "#live-record .badge", "in review")
	})
	if !kept(t, second) {
		t.Error("the other window was loaded anew")
	}
}

// TestDashboardRevokedKey checks that an open page leads to the sign-in when the key of its session is revoked.
func TestDashboardRevokedKey(t *testing.T) {
	t.Parallel()
	s := start(t, authority(t).CertFile())
	p := signIn(t, s)
	p.Go(t, s.Dashboard+"/settings")
	p.Type(t, "#name", "guest")
	follow(t, p, `form[action="/settings/keys"] button`, "main pre")
	guest := browser.Open(t, true)
	guest.Go(t, s.Dashboard+"/calls")
	guest.Type(t, "#key", strings.TrimSpace(p.Text(t, "main pre")))
	follow(t, guest, "main button.main", "#live-ended")
	p.Go(t, s.Dashboard+"/settings")
	follow(t, p, `button[aria-label="Revoke guest"]`, `#ask button[value="yes"]`)
	follow(t, p, `#ask button[value="yes"]`, ".notice")
	guest.Await(t, "#key")
	if at := browser.Eval[string](t, guest, "location.pathname + location.search"); at != "/login?next="+url.QueryEscape("/calls") {
		t.Errorf("the page of the revoked key leads to %s", at)
	}
}

// reach presses the tab key until the element has the focus.
func reach(t *testing.T, p *browser.Page, selector string) {
	t.Helper()
	p.Await(t, selector)
	for range 100 {
		if browser.Eval[bool](t, p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		p.Press(t, kb.Tab)
	}
	t.Fatalf("the keyboard does not reach %s", selector)
}

// TestDashboardKeyboard signs in, places a call and stops it with only the keyboard.
func TestDashboardKeyboard(t *testing.T) {
	t.Parallel()
	s, phone := dialable(t)
	p := browser.Open(t, true)
	p.Go(t, s.Dashboard+"/")
	reach(t, p, "#key")
	p.Press(t, s.Key+kb.Enter)
	reach(t, p, `nav a[href="/calls"]`)
	p.Press(t, kb.Enter)
	reach(t, p, `main a[href="/calls/new"]`)
	p.Press(t, kb.Enter)
	for field, text := range map[string]string{"#phone_number": theirs.String(), "#task": "Ask for the day."} {
		reach(t, p, field)
		p.Press(t, text)
	}
	reach(t, p, "main button.main")
	p.Press(t, kb.Enter)
	p.Await(t, "#live-facts")
	phone.Await(t, "CALL_ESTABLISHED", 1)
	await.That(t, "the call to be stopped by the keyboard", func() bool {
		reach(t, p, `#stop, #ask button[value="yes"]`) // an update of the call may have moved the focus
		p.Press(t, kb.Enter)
		return browser.Eval[bool](t, p, "document.getElementById('ask').open")
	})
	reach(t, p, `#ask button[value="yes"]`)
	p.Press(t, kb.Enter)
	phone.AwaitReceived(t, "BYE ")
	p.Await(t, `main a[href^="/calls/new?"]`)
	s.Stop(t)
}

// TestDashboardWithoutScripts checks that the most common actions work in a browser without scripts.
func TestDashboardWithoutScripts(t *testing.T) {
	t.Parallel()
	s, phone := dialable(t)
	p := browser.Open(t, false)
	p.Go(t, s.Dashboard+"/calls/new")
	p.Type(t, "#key", s.Key)
	follow(t, p, "main button.main", "#phone_number") // after the sign-in the browser returns to the requested page
	p.Type(t, "#phone_number", theirs.String())
	p.Type(t, "#task", "Ask for the day.")
	follow(t, p, "main button.main", "#stop")
	page := browser.Eval[string](t, p, "location.href")
	phone.Await(t, "CALL_ESTABLISHED", 1)
	await.That(t, "the call to be shown as answered", func() bool {
		p.Go(t, page)
		return reads(t, p, "#live-facts", "talking")
	})
	follow(t, p, "#stop", ".notice")
	phone.AwaitReceived(t, "BYE ")
	await.That(t, "the call to be shown as ended", func() bool {
		p.Go(t, page)
		return reads(t, p, "#live-facts", "completed")
	})
	p.Go(t, s.Dashboard+"/issues/new")
	p.Type(t, "#title", "Wrong date")
	follow(t, p, "main button.main", "#comment")
	p.Type(t, "#comment", "The caller **asked** twice.")
	follow(t, p, `form[action$="/comments"] button`, "#live-feed .md strong")
	if status := p.Go(t, s.Dashboard+"/issues"); status != http.StatusOK || !reads(t, p, "main", "Wrong date") {
		t.Errorf("the list is answered %d", status)
	}
	s.Stop(t)
}
