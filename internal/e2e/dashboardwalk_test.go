package e2e_test

import (
	"regexp"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/internal/e2e/baresip"
)

// follow clicks a link or button, and waits until the next page shows the wanted element.
func follow(t *testing.T, p *browser.Page, at, wanted string) {
	t.Helper()
	p.Click(t, at)
	p.Await(t, wanted)
}

// TestDashboardNewUser follows the README for new users in a browser: it signs in, sets up a trunk to a phone with the wizard, places a
// call, and listens to its recording.
func TestDashboardNewUser(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String(), Also: ours.String()})
	s := start(t, ca.CertFile())
	p := signIn(t, s)
	p.Resize(t, 1280, 900)

	follow(t, p, `nav a[href="/trunks"]`, `main a[href="/trunks/new"]`)
	follow(t, p, `main a[href="/trunks/new"]`, `button[value="outbound"]`)
	follow(t, p, `button[value="outbound"]`, "#destination")
	p.Type(t, "#destination", phone.Server())
	follow(t, p, "main button.main", "#live-discovery button.main")
	p.Picture(t, "discovery")
	follow(t, p, `nav a[href="/trunks"]`, `a[href^="/trunks/new/discovery"]`) // leaves the wizard and resumes it
	p.Picture(t, "set-ups")
	follow(t, p, `a[href^="/trunks/new/discovery"]`, "#live-discovery button.main")
	follow(t, p, "#live-discovery button.main", "#addresses")
	follow(t, p, "main a.main", "#verify")
	follow(t, p, "main button.main", "#numbers")
	p.Type(t, "#numbers", ours.String())
	follow(t, p, "main button.main", `form[action$="/test"] button`)
	follow(t, p, `form[action$="/test"] button`, `#live-test a[href*="/complete"]`)
	p.Picture(t, "test-call")
	follow(t, p, `#live-test a[href*="/complete"]`, "main .badge.good")
	if len(s.CallLog(t, ours.String())) == 0 {
		t.Error("the trunk has carried no call")
	}
	follow(t, p, `nav a[href="/trunks"]`, "#live-numbers table")
	if browser.Eval[bool](t, p, `document.querySelector("#under") !== null`) {
		t.Error("the set-up is still under way")
	}

	follow(t, p, `nav a[href="/calls"]`, `main a[href="/calls/new"]`)
	follow(t, p, `main a[href="/calls/new"]`, "#phone_number")
	p.Type(t, "#phone_number", theirs.String())
	p.Type(t, "#from", ours.String())
	p.Type(t, "#task", "Ask whether the parcel came.")
	p.Type(t, "#first_sentence", "Hello, did your parcel arrive?")
	p.Select(t, "#record", "true")
	follow(t, p, "main button.main", "#live-transcript li.assistant") // appears without a reload when the agent has spoken
	p.Picture(t, "running-call")
	phone.Await(t, "CALL_ESTABLISHED", 2)
	follow(t, p, `form[action$="/stop"] button`, `#ask button[value="yes"]`)
	follow(t, p, `#ask button[value="yes"]`, "audio#recording")
	phone.AwaitReceived(t, "BYE ")

	p.Picture(t, "call")
	await.That(t, "the line to be heard and marked", func() bool {
		p.Click(t, "#live-transcript li.assistant a[data-start]")
		return browser.Eval[bool](t, p, `document.querySelector("#live-transcript li.assistant.playing") !== null`)
	})
	if at := browser.Eval[float64](t, p, `document.querySelector("#recording").duration`); at < 1 {
		t.Errorf("the recording has %g s", at)
	}
	follow(t, p, `nav a[href="/trunks"]`, "#live-numbers table a")
	follow(t, p, "#live-numbers table a", "#live-log table")
	p.Picture(t, "trunk")
	follow(t, p, "a.brand", "#live-overview")
	p.Picture(t, "overview")
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
	s.Stop(t)
}

// TestDashboardSessions signs out in one of two windows. It checks that a form in the other window places no call and leads to the sign-in.
func TestDashboardSessions(t *testing.T) {
	t.Parallel()
	s := start(t, authority(t).CertFile())
	p := signIn(t, s)
	p.Go(t, s.Dashboard+"/calls")
	second := p.Tab(t)
	second.Go(t, s.Dashboard+"/calls/new")
	second.Type(t, "#phone_number", theirs.String())
	follow(t, p, "form[action='/logout'] button", "#key")
	follow(t, second, "main button.main", "#key")
	if at := browser.Eval[string](t, second, "location.pathname"); !regexp.MustCompile("^/login").MatchString(at) {
		t.Errorf("without a session the form leads to %s", at)
	}
	if calls := s.Calls(t); len(calls) > 0 {
		t.Errorf("without a session %d calls were placed", len(calls))
	}
}
