package siptest

import (
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
)

// RunTexter tests an alert.Texter. newTexter returns a new Texter and a function that returns the texts sent by this Texter. org is an
// organization with one contact.
func RunTexter(t *testing.T, org callwright.OrgID, newTexter func(t *testing.T) (x alert.Texter, sent func() []string)) {
	t.Helper()
	x, sent := newTexter(t)
	const text = "SIP trunk +15550000001 (outbound) answers slowly"
	for range 2 { // the second time is a retry
		if err := x.SendText(t.Context(), org, "t1.response_time.1", text); err != nil {
			t.Fatal(err)
		}
	}
	if got := sent(); len(got) == 0 || len(got) > 2 || got[0] != text {
		t.Errorf("sent %q", got)
	}
}

// Receiver is an alert.Hooks and the server to which it posts notices.
type Receiver struct {
	Hooks    alert.Hooks
	Org      callwright.OrgID
	URL      string     // of the server
	Gone     string     // a URL without a listener
	Received func() int // the number of requests that the server has accepted
	Refuse   func(int)  // sets the status of all later answers; the default is 200
}

// RunHooks tests an alert.Hooks. newReceiver returns a new server for each test.
func RunHooks(t *testing.T, newReceiver func(t *testing.T) Receiver) {
	t.Helper()
	notice := func(r Receiver) alert.Notice {
		return alert.Notice{
			ID: "t1.unreachable.1", Org: r.Org, Kind: alert.Unreachable, Number: listed, Direction: "outbound", Value: 5, Threshold: 5,
			TriggeredAt: at,
		}
	}
	t.Run("checks URLs", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t)
		if err := r.Hooks.CheckURL(r.URL); err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		for _, url := range []string{"", "hook", "ftp://example.com/hook", "https://", "https://exa mple.com", "javascript:alert(1)"} {
			wantPlainRefusal(t, url, r.Hooks.CheckURL(url))
		}
	})
	t.Run("posts a notice", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t)
		over := notice(r)
		over.ResolvedAt = new(at.Add(time.Hour))
		for _, n := range []alert.Notice{notice(r), notice(r), over} { // the second one is a retry
			if err := r.Hooks.SendNotice(t.Context(), r.URL, n); err != nil {
				t.Error(err)
			}
		}
		if n := r.Received(); n != 3 {
			t.Errorf("%d notices arrived", n)
		}
	})
	t.Run("reports what must be tried again", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t)
		r.Refuse(503)
		for _, url := range []string{r.URL, r.Gone} {
			if err := r.Hooks.SendNotice(t.Context(), url, notice(r)); err == nil || errors.Is(err, callwright.ErrForbidden) {
				t.Errorf("%s: got %v, want an error that asks for a retry", url, err)
			}
		}
	})
	t.Run("reports what is refused for good", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t)
		r.Refuse(410)
		if err := r.Hooks.SendNotice(t.Context(), r.URL, notice(r)); !errors.Is(err, callwright.ErrForbidden) {
			t.Errorf("got %v, want CodeForbidden", err)
		}
	})
}

// wantPlainRefusal checks that an error has CodeBadRequest and names no field.
func wantPlainRefusal(t *testing.T, input string, err error) {
	t.Helper()
	var field string
	if e, ok := err.(*callwright.Error); ok { //nolint:errorlint // the outermost error has the field
		field = e.Field
	}
	if callwright.CodeOf(err) != callwright.CodeBadRequest || field != "" {
		t.Errorf("%q gave %v", input, err)
	}
}
