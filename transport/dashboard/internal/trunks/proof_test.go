package trunks_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// TestProveInSetUp checks that a number that the set-up cannot attach can be proven from the set-up's form and then attached.
func TestProveInSetUp(t *testing.T) {
	t.Parallel()
	h := open(t, callwright.EntitlementSIP)
	const theirs = "+14155550109"
	h.attach("stranger", theirs)
	h.asks.Store(true)
	set := h.begin("inbound", "192.0.2.10")
	h.want(http.StatusOK, "/trunks/new/authentication"+set, url.Values{"auth": {"none"}}, "Which numbers")
	numbers := url.Values{"numbers": {one}, "allowed": {"192.0.2.7"}}
	page := "/trunks/" + one + "/proof"
	h.want(http.StatusUnprocessableEntity, "/trunks/new/numbers"+set, numbers, "must be proven", "Prove &#43;"+one[1:], "proof"+set, "!Replace and attach")
	h.want(http.StatusOK, page+set, nil, "Call &#43;"+one[1:], `!id="code"`, "!data-live")
	h.want(http.StatusUnprocessableEntity, page+set, url.Values{}, "attach a number for outbound calls first")
	done, err := h.trunks.Attach(t.Context(), org, sip.Attachment{
		Numbers: []string{two}, Directions: []sip.DirectionInput{{Type: sip.Outbound, Endpoint: new("sip:pbx.example.com")}},
	})
	if err != nil || len(done.Failed) > 0 {
		t.Fatal(done, err)
	}
	if at := h.want(http.StatusOK, page+set, url.Values{}, `id="code"`, "about to begin", "data-live"); at != page+set {
		t.Errorf("the call is at %s", at)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = h.work.Run(ctx) }()
	parts := <-h.spoken
	stop()
	<-ended
	var code strings.Builder
	for _, part := range parts[1:7] {
		code.WriteByte('0' + byte(slices.Index([]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}, part)))
	}
	h.want(http.StatusUnprocessableEntity, page+"/code"+set, url.Values{"code": {"12"}}, `id="fault-code"`, "The number is called")
	if at := h.want(http.StatusOK, page+"/code"+set, url.Values{"code": {code.String()}}, "is proven. Attach it now.", one[1:]); at != "/trunks/new/numbers"+set {
		t.Errorf("the set-up goes on at %s", at)
	}
	h.want(http.StatusOK, page+set, nil, "is proven until", "Go on with the set-up", `!id="code"`)
	h.want(http.StatusOK, "/trunks/new/numbers"+set, numbers, "The numbers are attached")
	h.want(http.StatusNotFound, "/trunks/"+theirs+"/proof", nil)
}
