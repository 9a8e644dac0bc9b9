package dashboard_test

import (
	"testing"

	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// TestInPlace checks the links within a call's page. A cited line must lead to the line and to its second in the recording, and a message
// in the ladder to the message's content.
func TestInPlace(t *testing.T) {
	t.Parallel()
	h := open(t)
	theirs := h.furnish(owner, "+14155550100")
	theOwner, _ := h.serve(func(*page.Route) {})
	p := browser.Open(t, true)
	p.Go(t, theOwner.url+"/issues/"+theirs["/issues/{id}"])
	p.Click(t, `a[href="/calls/call-owner?lines=1#line-1"]`)
	p.Await(t, "audio#recording")
	p.Await(t, "#line-1:target")
	if at := browser.Eval[float64](t, p, `document.getElementById("recording").currentTime`); at != 12.3 {
		t.Errorf("the recording stands at %g s", at)
	}
	if browser.Eval[bool](t, p, `document.getElementById("sip-1-3").checkVisibility()`) {
		t.Error("all messages are open")
	}
	p.Click(t, `svg a[href="#sip-1-3"]`)
	p.Await(t, "#sip-1-3")
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
}
