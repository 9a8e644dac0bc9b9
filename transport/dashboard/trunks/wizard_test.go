package trunks_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

func TestSetUp(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	h.want(http.StatusOK, "/trunks/new", nil, `aria-current="step"`, "direction=outbound", "direction=inbound", "direction=both")
	at := h.want(http.StatusOK, "/trunks/new/destination?direction=outbound", url.Values{"destination": {"pbx.example.com"}}, "SIP servers at pbx.example.com")
	if !strings.HasPrefix(at, "/trunks/new/discovery?") || !strings.Contains(at, "discovery=disc_") {
		t.Fatalf("the discovery is at %s", at)
	}
	h.ended(at)
	h.want(http.StatusOK, at, nil, "Go on with port 5061", "&lt;script&gt;", "!<script>alert", "endpoint=sip%3Apbx.example.com%3A5061%3Btransport%3Dtls", "!data-live")
	chosen := "?direction=outbound&endpoint=" + url.QueryEscape("sip:pbx.example.com:5061;transport=tls")
	h.want(http.StatusOK, "/trunks/new/firewall"+chosen, nil, "192.0.2.10", "10000 to 20000", "/trunks/new/authentication?direction=outbound", "!Send calls here")
	h.want(http.StatusOK, "/trunks/new/authentication"+chosen, nil, `value="digest"`, "!By registration")
	numbers := "/trunks/new/numbers" + chosen + "&auth=digest&verify=none"
	h.want(http.StatusOK, numbers, nil, "sip:pbx.example.com:5061;transport=tls", `type="password"`)
	h.want(http.StatusUnprocessableEntity, numbers, url.Values{"numbers": {one}, "username": {"robin"}}, `id="fault-username"`, `value="robin"`, one[1:])
	h.want(http.StatusUnprocessableEntity, numbers, url.Values{"numbers": {"12"}, "username": {"robin"}, "password": {"secret-1"}}, `id="fault-numbers"`, "!secret-1")
	at = h.want(http.StatusOK, numbers, url.Values{"numbers": {one + "\r\n"}, "username": {"robin"}, "password": {"secret-1"}}, "The numbers are attached", "Place a test call")
	if at != "/trunks/"+one+"/complete" {
		t.Errorf("ended at %s", at)
	}
	got := must(h.trunks.Trunk(t.Context(), org, one, sip.Outbound))
	if got.Options.Call.Password != "secret-1" || got.Options.Verify != sip.VerifyNone {
		t.Errorf("got %+v", got.Options)
	}
	h.want(http.StatusOK, "/trunks/"+one, nil, "challenges are answered", "is not checked", "go on with the set-up", "!secret-1", "!robin")

	at = h.want(http.StatusOK, "/trunks/"+one+"/test", url.Values{}, "Timeline", "initiated")
	h.ended(at)
	h.want(http.StatusOK, at, nil, "ringing", "busy", "Try again", "!data-live")
	h.attach(org, two)
	h.want(http.StatusNotFound, strings.Replace(at, one, two, 1), nil)
}

// ended waits until a page is not live any more.
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

func TestSetUpFaults(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	destination := "/trunks/new/destination?direction=both"
	for _, input := range []string{"", "tel:+1", "10.0.0.1", "sip:pbx.example.com;transport=udp", "sip:a:secret@pbx.example.com", "<script>"} {
		h.want(http.StatusUnprocessableEntity, destination, url.Values{"destination": {input}}, `id="fault-destination"`, "!<script>alert")
	}
	at := h.want(http.StatusOK, destination, url.Values{"destination": {"tls://pbx.example.com"}, "skip": {"yes"}}, "Send calls here", "sip:sip.example.net:5061")
	if want := "/trunks/new/firewall?direction=both&endpoint=" + url.QueryEscape("sip:pbx.example.com;transport=tls"); at != want {
		t.Errorf("ended at %s", at)
	}
	h.want(http.StatusNotFound, "/trunks/new/discovery?direction=both&discovery=disc_x", nil, "Look again")
	h.want(http.StatusBadRequest, "/trunks/new/numbers?direction=up", nil)
	h.want(http.StatusBadRequest, "/trunks/new/numbers?direction=both&auth=x", nil)
	h.want(http.StatusOK, "/trunks/new/numbers", nil, "Which calls does the trunk carry?")
	h.want(http.StatusUnprocessableEntity, "/trunks/new/numbers?direction=outbound", url.Values{"numbers": {one}}, "is required for the outbound direction")
	h.want(http.StatusUnprocessableEntity, "/trunks/new/numbers?direction=inbound", url.Values{"numbers": {one}, "allowed": {"x"}}, `id="fault-allowed"`)
	h.want(http.StatusUnprocessableEntity, "/trunks/new/numbers?direction=inbound", url.Values{}, `id="fault-numbers"`)
	h.attach("other", two)
	h.want(http.StatusUnprocessableEntity, "/trunks/new/numbers?direction=inbound", url.Values{"numbers": {two}}, "not available to this organization")
}

func TestSetUpRegistration(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	numbers := "/trunks/new/numbers?direction=inbound&auth=register&endpoint=" + url.QueryEscape("sip:pbx.example.com")
	h.want(http.StatusUnprocessableEntity, numbers, url.Values{"numbers": {one}, "username": {"robin"}, "password": {"short"}}, `id="fault-password"`)
	h.want(http.StatusOK, numbers, url.Values{"numbers": {one + " 12"}, "username": {"robin"}, "password": {"long-enough"}, "allowed": {"192.0.2.0/24, 198.51.100.7"}},
		"It is shown only now", "Not attached", "!long-enough")
	password := must(h.trunks.Trunk(t.Context(), org, one, sip.Inbound)).Options.Register.Password.Reveal()
	h.want(http.StatusOK, "/trunks/"+one, nil, "by registration", "registering", "192.0.2.0/24", "!"+password, "!robin")
}
