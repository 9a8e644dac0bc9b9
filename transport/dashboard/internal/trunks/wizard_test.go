package trunks_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// begin starts a set-up, checks the text of its first step, and returns the query that its steps need.
func (h *house) begin(direction, texts string) string {
	h.t.Helper()
	at := h.want(http.StatusOK, "/trunks/new", url.Values{"direction": {direction}}, texts)
	_, query, _ := strings.Cut(at, "?")
	return "?" + query
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.want(http.StatusOK, "/trunks/new", nil, `aria-current="step"`, `value="outbound"`, `value="inbound"`, `value="both"`, "!under way")
	set := h.begin("outbound", "Where is your telephone system?")
	at := h.want(http.StatusOK, "/trunks/new/destination"+set, url.Values{"destination": {"pbx.example.com"}}, "SIP servers at pbx.example.com")
	if at != "/trunks/new/discovery"+set {
		t.Fatalf("the discovery is at %s", at)
	}
	h.ended(at)
	h.want(http.StatusOK, at, nil, "Continue with port 5061", "&lt;script&gt;", "!<script>alert", "!data-live")
	h.want(http.StatusBadRequest, at, url.Values{"port": {"x"}})
	h.want(http.StatusOK, at, url.Values{"port": {"5061"}}, `class="once" tabindex="0">192.0.2.10`, "10000 to 20000", "/trunks/new/authentication?setup=",
		"<li>Discovery <span", "!Send calls here", "!takes no calls")
	at = h.want(http.StatusOK, "/trunks/new/authentication"+set, url.Values{"auth": {"digest"}, "verify": {"none"}},
		"sip:pbx.example.com:5061;transport=tls", "is not checked", "by user name and password", `type="password"`)
	if at != "/trunks/new/numbers"+set {
		t.Fatalf("the numbers are at %s", at)
	}
	h.want(http.StatusUnprocessableEntity, at, url.Values{"numbers": {one}, "username": {"robin"}}, `id="fault-password">is required`, `value="robin"`, one[1:])
	h.want(http.StatusUnprocessableEntity, at, url.Values{"numbers": {one}}, `id="fault-username">is required`)
	h.want(http.StatusUnprocessableEntity, at, url.Values{"numbers": {"12"}, "username": {"robin"}, "password": {"secret-1"}}, `id="fault-numbers"`, "!secret-1")
	h.want(http.StatusUnprocessableEntity, at, url.Values{"numbers": {one + "\n4155550108, +12"}, "username": {"robin"}},
		`id="fault-numbers">4155550108 is ambiguous: must begin with + and the country code: +14155550108 for a number of North America (+4155550108 is not a valid number); +12 must be`)
	at = h.want(http.StatusOK, at, url.Values{"numbers": {"+1 (415) 555-0100\r\n"}, "username": {"robin"}}, "The numbers are attached", "Place a test call",
		"<li>Destination", `<li aria-current="step">Test call`, "!Discovery", "!Place a call from")
	if at != "/trunks/"+one+"/complete" {
		t.Errorf("ended at %s", at)
	}
	got := must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound))
	if got.Options.Call.Password != "secret-1" || got.Options.Verify != sip.VerifyNone {
		t.Errorf("got %+v", got.Options)
	}
	h.want(http.StatusNotFound, "/trunks/new/numbers"+set, nil)
	h.want(http.StatusOK, "/trunks", nil, "!under way")
	h.want(http.StatusOK, "/trunks/"+one, nil, "challenges are answered", "is not checked", "holds no answered outbound call", "!secret-1", "!robin")

	at = h.want(http.StatusOK, "/trunks/"+one+"/test", url.Values{}, "Timeline", "initiated")
	h.ended(at)
	h.want(http.StatusOK, at, nil, "ringing", `class="badge warn"><span aria-hidden="true">!</span> busy</span></p>`, `aria-label="Steps over time"`, "failed: SIP 486: the callee is busy (bad)", "Try again", "!data-live")
	h.attach(org, two)
	h.want(http.StatusNotFound, strings.Replace(at, one, two, 1), nil)
}

// TestPhasesOfTestCalls checks that the page of a test call mentions the ringing only before the answer and the tone only during the call,
// and shows the final duration only after the call.
func TestPhasesOfTestCalls(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	start := time.Now().Add(-10 * time.Second)
	answer, end := start.Add(time.Second), start.Add(4500*time.Millisecond)
	const ring, tone = "The other side should ring now.", "The other side hears a tone."
	for i, c := range []struct {
		status   testcall.Status
		answered *time.Time
		ended    *time.Time
		texts    []string
	}{
		{testcall.Ringing, nil, nil, []string{ring, "!" + tone, "!p for"}},
		{testcall.InProgress, &answer, nil, []string{"!" + ring, tone, "Up for ", "!was up"}},
		{testcall.Completed, &answer, &end, []string{"!" + ring, "!" + tone, "It was up for 3.5 s.", "!Up for"}},
	} {
		call := testcall.Call{
			ID: fmt.Sprint("tc_", i), Org: org, Number: one, Status: c.status, Result: testcall.Pending, StartedAt: start, AnsweredAt: c.answered, EndedAt: c.ended,
		}
		if _, _, err := h.tests.Insert(t.Context(), call, 10, start.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		h.want(http.StatusOK, "/trunks/"+one+"/test/"+call.ID, nil, c.texts...)
	}
}

// ended waits until the page has no more live updates.
func (h *house) ended(path string) {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.URL+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	r, err := h.client.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if body := string(must(io.ReadAll(r.Body))); !strings.Contains(body, "event: reload") {
		h.t.Fatalf("%s: %s", path, body)
	}
}

// TestSetUpLeft checks that a set-up can be resumed from the list of trunks, and can be discarded. Its password is kept, but no page shows
// it.
func TestSetUpLeft(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	set := h.begin("both", "Where is your telephone system?")
	id := strings.TrimPrefix(set, "?setup=")
	h.want(http.StatusOK, "/trunks", nil, "Set-ups under way", "inbound and outbound", "at Destination", "/trunks/new/destination"+set, `data-ask="Discard`, "Set up the first trunk")
	h.want(http.StatusOK, "/trunks/new/destination"+set, url.Values{"destination": {"tls://pbx.example.com"}, "skip": {"yes"}}, "Send calls here", "<li>Destination", "!Discovery")
	h.want(http.StatusOK, "/trunks", nil, "sip:pbx.example.com;transport=tls", "at Firewall", "/trunks/new/firewall"+set)
	h.want(http.StatusOK, "/trunks/new/destination"+set, nil, `value="sip:pbx.example.com;transport=tls"`)
	h.want(http.StatusOK, "/trunks/new/authentication"+set, url.Values{"auth": {"digest"}, "verify": {"chain"}})
	numbers := "/trunks/new/numbers" + set
	h.attach("other", two)
	at := h.want(http.StatusOK, numbers, url.Values{
		"numbers": {one + " " + two}, "username": {"robin"}, "password": {"secret-1"}, "allowed": {"192.0.2.0/24"}, "later": {"yes"},
	}, "kept for 30 days", "at Numbers", one[1:], "!secret-1")
	if at != "/trunks" {
		t.Errorf("it is left to %s", at)
	}
	h.want(http.StatusOK, numbers, nil, `value="robin"`, "192.0.2.0/24", "A password is kept", "!secret-1")
	h.want(http.StatusOK, "/trunks/new/authentication"+set, nil, `value="digest" checked`, `value="chain" selected`)
	h.want(http.StatusOK, numbers, url.Values{"numbers": {one + " " + two}, "username": {"robin"}, "allowed": {""}}, "Not attached", numbers, "Change these numbers")
	if got := must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound)); got.Options.Call.Password != "secret-1" {
		t.Error("the password that was kept is not used")
	}
	if left := must(h.drafts.Draft(t.Context(), org, id)); left.Numbers != two+"\n" {
		t.Errorf("left are the numbers %q", left.Numbers)
	}
	h.want(http.StatusOK, "/trunks/new/discard", url.Values{"setup": {id}}, "The set-up is discarded", "!under way")
	h.want(http.StatusNotFound, "/trunks/new/discard", url.Values{"setup": {id}})
}

// TestSetUpReplaces checks that a set-up replaces the existing trunk of a number only after the user has confirmed it.
func TestSetUpReplaces(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.attach(org, one)
	numbers := "/trunks/new/numbers" + h.begin("inbound", "Send calls here")
	form := url.Values{"numbers": {one}, "allowed": {"192.0.2.0/24"}}
	h.want(http.StatusUnprocessableEntity, numbers, form, `id="fault-numbers">+14155550100 has an inbound trunk already`,
		"Replace and attach", `data-ask="Replace the trunks that these numbers have already: &#43;14155550100?"`)
	if got := must(h.trunks.Trunk(t.Context(), org, one, sip.Inbound)); len(got.Options.AllowedIPs) > 0 {
		t.Errorf("it became %+v", got)
	}
	form.Set("replace", "yes")
	h.want(http.StatusOK, numbers, form, "The numbers are attached")
	if got := must(h.trunks.Trunk(t.Context(), org, one, sip.Inbound)); len(got.Options.AllowedIPs) != 1 {
		t.Errorf("it was not replaced: %+v", got)
	}
}

// TestMakesPasswords checks that the form shows a generated password, keeps the other typed values, and attaches with that password.
func TestMakesPasswords(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	set := h.begin("inbound", "Send calls here")
	numbers := "/trunks/new/numbers" + set
	h.want(http.StatusOK, numbers, nil, "!Make a password")
	h.want(http.StatusOK, "/trunks/new/authentication"+set, url.Values{"auth": {"digest"}}, "Make a password")
	seen := map[string]bool{}
	for range 2 {
		form := url.Values{"numbers": {one}, "username": {"robin"}, "allowed": {"192.0.2.0/24"}, "password": {"typed-before"}, "make": {"password"}, "csrf": {h.token()}}
		body := pagetest.Send(t, h.client, h.URL+numbers, form).Body
		found := regexp.MustCompile(`name="password" class="mono" value="([A-Za-z0-9]{16})"`).FindStringSubmatch(body)
		if found == nil || seen[found[1]] || strings.Contains(body, "typed-before") {
			t.Fatalf("no new password in\n%s", body)
		}
		seen[found[1]] = true
		for _, text := range []string{`value="robin"`, "192.0.2.0/24", one[1:], "no page shows it again"} {
			if !strings.Contains(body, text) {
				t.Errorf("%q is lost in\n%s", text, body)
			}
		}
		if draft := must(h.drafts.Draft(t.Context(), org, strings.TrimPrefix(set, "?setup="))); draft.Password != "" {
			t.Error("the password is kept before it is used")
		}
		if len(seen) < 2 {
			continue
		}
		form.Del("make")
		form.Set("password", found[1])
		h.want(http.StatusOK, numbers, form, "The numbers are attached", "!"+found[1])
		if got := must(h.trunks.Trunk(t.Context(), org, one, sip.Inbound)); got.Options.Call.Password.Reveal() != found[1] {
			t.Error("the trunk has another password")
		}
	}
}

// TestRegionWithoutHost checks that the page about firewalls says that a region without a host accepts no calls. In an outbound set-up, the
// page must omit this sentence.
func TestRegionWithoutHost(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	tenant := must(h.tenants.Organization(t.Context(), org))
	tenant.Region = "mute"
	if err := h.tenants.UpdateOrganization(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/trunks/new/firewall", nil, "198.51.100.10", "This region takes no calls: ask its operator.")
	h.want(http.StatusOK, "/trunks/new/firewall"+h.begin("outbound", "Where"), nil, "198.51.100.10", "!takes no calls")
}

// TestLookAgain checks that each search for a server starts a new discovery, even for the destination of an earlier search.
func TestLookAgain(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	set := h.begin("outbound", "Where")
	var looks []string
	for _, destination := range []string{"plain.example.com", "sip:plain.example.com;transport=tls", "sip:plain.example.com;transport=tls"} {
		at := h.want(http.StatusOK, "/trunks/new/destination"+set, url.Values{"destination": {destination}})
		h.ended(at)
		h.want(http.StatusOK, at, nil, "no TLS", "Look again", `name="destination" value="sip:plain.example.com;transport=tls"`)
		look := must(h.drafts.Draft(t.Context(), org, strings.TrimPrefix(set, "?setup="))).Discovery
		if slices.Contains(looks, look) {
			t.Errorf("another look at %s shows the earlier one", destination)
		}
		looks = append(looks, look)
	}
}

func TestSetUpsOfOthers(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	now := time.Now()
	theirs := setup.Draft{ID: "theirs", Org: "other", Directions: setup.BothWays, Step: setup.StepNumbers, CreatedAt: now, UpdatedAt: now}
	if err := h.drafts.InsertDraft(t.Context(), theirs, setup.MaxDrafts, now); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/trunks", nil, "!under way")
	for _, step := range []string{"destination", "discovery", "firewall", "authentication", "numbers"} {
		h.want(http.StatusNotFound, "/trunks/new/"+step+"?setup=theirs", nil)
		if step != "firewall" {
			h.want(http.StatusNotFound, "/trunks/new/"+step+"?setup=theirs", url.Values{"numbers": {one}, "destination": {"pbx.example.com"}})
		}
	}
	h.want(http.StatusNotFound, "/trunks/new/discard", url.Values{"setup": {"theirs"}})
	if _, err := h.drafts.Draft(t.Context(), "other", "theirs"); err != nil {
		t.Error(err)
	}
}

func TestSetUpFaults(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	set := h.begin("both", "Where")
	destination := "/trunks/new/destination" + set
	for _, input := range []string{"", "tel:+1", "10.0.0.1", "sip:pbx.example.com;transport=udp", "sip:a:secret@pbx.example.com", "<script>"} {
		h.want(http.StatusUnprocessableEntity, destination, url.Values{"destination": {input}}, `id="fault-destination"`, "!<script>alert")
	}
	h.want(http.StatusOK, "/trunks/new/discovery"+set, nil, "Look again")
	h.want(http.StatusUnprocessableEntity, "/trunks/new", url.Values{"direction": {"up"}}, "must be inbound, outbound or both")
	h.want(http.StatusUnprocessableEntity, "/trunks/new/authentication"+set, url.Values{"auth": {"x"}}, `id="fault-auth"`)
	h.want(http.StatusOK, "/trunks/new/firewall", nil, "Reach this server", "Send calls here", "!/trunks/new/authentication")
	numbers := func(set string) string { return "/trunks/new/numbers" + set }
	outbound, inbound := h.begin("outbound", "Where"), h.begin("inbound", "Send calls here")
	h.want(http.StatusUnprocessableEntity, numbers(outbound), url.Values{"numbers": {one}}, "is required for the outbound direction")
	h.want(http.StatusUnprocessableEntity, numbers(inbound), url.Values{"numbers": {one}, "allowed": {"x"}}, `id="fault-allowed"`)
	h.want(http.StatusUnprocessableEntity, numbers(inbound), url.Values{"numbers": {one}, "allowed": {" "}}, `id="fault-allowed">must limit the addresses`, `name="anyone" value="yes">`)
	everybody := h.begin("inbound", "Send calls here")
	h.want(http.StatusOK, numbers(everybody), url.Values{"numbers": {"+14155550177"}, "anyone": {"yes"}}, "The numbers are attached")
	h.want(http.StatusOK, "/trunks/+14155550177", nil, `class="badge bad"><span aria-hidden="true">✗</span> everybody may call`)
	h.want(http.StatusUnprocessableEntity, numbers(inbound), url.Values{"anyone": {"yes"}}, `id="fault-numbers"`)
	h.want(http.StatusUnprocessableEntity, numbers(inbound), url.Values{"numbers": {strings.Repeat("1", 5000)}}, `id="fault-numbers"`, "at most 4000 bytes", `action="/trunks/new/numbers`+inbound)
	h.want(http.StatusUnprocessableEntity, numbers(inbound), url.Values{"numbers": {one}, "allowed": {strings.Repeat("192.0.2.1\n", 101)}},
		`id="fault-allowed">must hold at most 100`)
	h.want(http.StatusOK, "/trunks/new/authentication"+outbound, url.Values{"auth": {"digest"}})
	h.want(http.StatusUnprocessableEntity, numbers(outbound), url.Values{"numbers": {one}, "username": {"robin"}},
		`id="fault-password">is required to authenticate`)
	h.attach("other", two)
	h.want(http.StatusUnprocessableEntity, numbers(inbound), url.Values{"numbers": {two}, "allowed": {"192.0.2.1"}}, "not available to this organization", "!Replace and attach")
	for range setup.MaxDrafts - 3 {
		h.begin("inbound", "Send calls here")
	}
	h.want(http.StatusUnprocessableEntity, "/trunks/new", url.Values{"direction": {"inbound"}}, "at most 20 set-ups can be open: finish or discard one", "Discard")
}

func TestSetUpRegistration(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	set := h.begin("inbound", "Send calls here")
	h.want(http.StatusUnprocessableEntity, "/trunks/new/authentication"+set, url.Values{"auth": {"register"}, "endpoint": {""}},
		`id="fault-endpoint">is required`, `value="register" checked`, "!Destination", "!Discovery", "!Test call", "Complete")
	h.want(http.StatusOK, "/trunks/new/authentication"+set, url.Values{"auth": {"register"}, "endpoint": {"sip:pbx.example.com"}},
		"password of our registration")
	numbers := "/trunks/new/numbers" + set
	h.attach("other", two)
	h.want(http.StatusUnprocessableEntity, numbers, url.Values{"numbers": {one}, "username": {"robin"}, "password": {"short"}}, `id="fault-password"`)
	h.want(http.StatusOK, numbers, url.Values{"numbers": {one + " " + two}, "username": {"robin"}, "password": {"long-enough"}, "allowed": {"192.0.2.0/24, 198.51.100.7"}},
		"It is shown only now", "Not attached", "!long-enough")
	password := must(h.trunks.Trunk(t.Context(), org, one, sip.Inbound)).Options.Register.Password.Reveal()
	h.want(http.StatusOK, "/trunks/"+one, nil, "by registration", "registering", "192.0.2.0/24", "!"+password, "!robin", "!binding until", "!in a row")
	h.want(http.StatusOK, "/trunks/"+one+"/complete", nil, `<li aria-current="step">Complete`, "takes calls", "What you can do now", "!Test call", "!Destination")
}
