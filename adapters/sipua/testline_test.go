package sipua_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

var placement = testcall.Placement{ID: "tc_1", Org: org, Number: alice, Ring: patience}

// observer records the steps of a test call.
type observer struct {
	mu    sync.Mutex
	steps []ladder.Event
}

func (o *observer) observe(e ladder.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps = append(o.steps, e)
}

func (o *observer) seen() []ladder.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.steps
}

// tried is a test call that is placed in the background.
type tried struct {
	t       testing.TB
	leg     testcall.Leg
	err     error
	done    chan struct{}
	giveUp  context.CancelFunc
	watched observer
}

func try(t testing.TB, a *agent) *tried {
	t.Helper()
	ctx, giveUp := context.WithCancel(within(t))
	t.Cleanup(giveUp)
	c := &tried{t: t, done: make(chan struct{}), giveUp: giveUp}
	go func() {
		defer close(c.done)
		c.leg, c.err = a.TestLine().Place(ctx, placement, c.watched.observe)
	}()
	return c
}

func (c *tried) fails() *testcall.Failure {
	c.t.Helper()
	<-c.done
	f, ok := errors.AsType[*testcall.Failure](c.err)
	if !ok {
		c.t.Fatalf("%v is no Failure", c.err)
	}
	return f
}

func TestTestCallIsAnswered(t *testing.T) {
	t.Parallel()
	a, j := watched(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	c := try(t, a)
	w := accept()
	invite := w.request("INVITE")
	if !strings.HasPrefix(invite.start, "INVITE sip:"+alice.String()+"@") || !strings.Contains(invite.get("From"), alice.String()) {
		t.Errorf("%s %s", invite.start, invite.get("From"))
	}
	w.reply(invite, 200, "x", answerSDP())
	w.request("ACK")
	<-c.done
	if c.err != nil {
		t.Fatal(c.err)
	}
	want := testcall.Carriage{Codec: "PCMU", SRTPSuite: "AES_CM_128_HMAC_SHA1_80", TLS: "TLS 1.3", Peer: address}
	if got := c.leg.Info(); got != want {
		t.Errorf("%+v", got)
	}
	if err := c.leg.Write(t.Context(), make([]int16, 160)); err != nil || c.leg.Queued() != 160 || c.leg.Rate() != 8000 {
		t.Errorf("%v, %d samples at %d", err, c.leg.Queued(), c.leg.Rate())
	}
	a.media.last(t).frames <- nil
	if heard, err := c.leg.Read(t.Context()); err != nil || len(heard) != 160 {
		t.Errorf("%d samples, %v", len(heard), err)
	}
	go func() { w.reply(w.request("BYE"), 200, "", "") }()
	if err := c.leg.Hangup(within(t)); err != nil {
		t.Fatal(err)
	}
	<-c.leg.Done()
	if _, err := c.leg.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	got := j.all(t, 1)[0]
	if seen, kept := shown(c.watched.seen()), shown(got.steps); seen != kept || !strings.HasSuffix(seen, "- ended\n") {
		t.Errorf("seen\n%s and kept\n%s", seen, kept)
	}
	if r := got.ended; got.told != "begin answered end" || r.ParentID != placement.ID || r.From != alice.String() || r.To != alice.String() {
		t.Errorf("%s: %+v", got.told, r)
	}
}

// TestCallToAnotherNumber checks that Place calls p.To over the trunk of p.Number, as a proof of a number requires.
func TestCallToAnotherNumber(t *testing.T) {
	t.Parallel()
	a, j := watched(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	p := placement
	p.To = "+14155550123"
	ended := make(chan error, 1)
	go func() {
		_, err := a.TestLine().Place(t.Context(), p, func(ladder.Event) {})
		ended <- err
	}()
	w := accept()
	invite := w.request("INVITE")
	if !strings.HasPrefix(invite.start, "INVITE sip:"+p.To.String()+"@") || !strings.Contains(invite.get("From"), alice.String()) {
		t.Errorf("%s %s", invite.start, invite.get("From"))
	}
	w.reply(invite, 486, "x", "")
	w.request("ACK")
	if failure, ok := errors.AsType[*testcall.Failure](<-ended); !ok || failure.Status != testcall.Busy {
		t.Errorf("got %v", failure)
	}
	if r := j.all(t, 1)[0].ended; r.From != alice.String() || r.To != p.To.String() {
		t.Errorf("logged %+v", r)
	}
}

func TestTestCallFails(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]testcall.Failure{
		486: {Status: testcall.Busy, Code: 486}, 480: {Status: testcall.NoAnswer, Code: 480},
		488: {Status: testcall.Failed, Code: 488}, 503: {Status: testcall.Failed, Code: 503},
	} {
		a := newAgent(t, nil)
		address, accept := listenWire(t, "127.0.0.1")
		a.callsTo(t, address)
		c := try(t, a)
		w := accept()
		w.reply(w.request("INVITE"), status, "x", "")
		w.request("ACK")
		if f := c.fails(); f.Status != want.Status || f.Code != want.Code || f.Reason == "" {
			t.Errorf("%d: %+v", status, f)
		}
	}
	a := newAgent(t, nil)
	a.callsTo(t, "127.0.0.1:1")
	if f := try(t, a).fails(); f.Status != testcall.Failed || f.Code != 0 || !strings.Contains(f.Reason, "refused") {
		t.Errorf("nobody listens: %+v", f)
	}
	unattached := newAgent(t, func(c *sipua.Config) { c.Routes = noRoutes{c.Routes} })
	if f := try(t, unattached).fails(); f.Status != testcall.Failed || f.Code != 0 || f.Reason != "is not attached" {
		t.Errorf("not attached: %+v", f)
	}
}

// TestTestCallFailsOver checks that the observer receives the steps of both servers, and none after the end of the call, although the first
// server answers later.
func TestTestCallFailsOver(t *testing.T) {
	t.Parallel()
	s := twoServers(t)
	s.Hurry(hurry, unhurried)
	s.routes.route.Failover = failover.Config{Enabled: true}
	c := try(t, s.agent)
	silent := s.acceptOne()
	first := silent.request("INVITE")
	w := s.acceptTwo()
	w.reply(w.request("INVITE"), 486, "x", "")
	w.request("ACK")
	if f := c.fails(); f.Status != testcall.Busy || !strings.Contains(f.Reason, "2 servers") {
		t.Errorf("%+v", f)
	}
	seen := c.watched.seen()
	silent.reply(first, 100, "", "")
	silent.reply(silent.request("CANCEL"), 200, "x", "")
	silent.reply(first, 487, "x", "")
	silent.request("ACK")
	s.attempts.all(t, 2)
	want := "- resolved\n- connected\n> INVITE 1 [PCMU, PCMA; sendrecv; AES_CM_128_HMAC_SHA1_80]\n"
	if text := shown(seen); text != want+"- given up\n"+want+"< 486 Test INVITE 1\n> ACK 1\n- ended\n" || seen[0].Attempt != 1 || seen[4].Attempt != 2 {
		t.Errorf("seen:\n%s", text)
	}
	if n := len(c.watched.seen()); n != len(seen) {
		t.Errorf("%d steps after the end", n-len(seen))
	}
}

func TestTestCallIsGivenUp(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	c := try(t, a)
	w := accept()
	invite := w.request("INVITE")
	w.reply(invite, 180, "x", "")
	eventually(t, "it rings", func() bool { return strings.Contains(shown(c.watched.seen()), "180") })
	c.giveUp()
	if f := c.fails(); f.Status != testcall.Failed {
		t.Errorf("%+v", f)
	}
	w.reply(w.request("CANCEL"), 200, "x", "")
	w.reply(invite, 487, "x", "")
	w.request("ACK")
	eventually(t, "the call is gone", func() bool { return a.Calls() == 0 && a.media.open.Load() == 0 })
}

// noRoutes is a sip.Routes for which no number is attached.
type noRoutes struct{ trunk.Routes }

func (noRoutes) Outbound(context.Context, callwright.OrgID, callwright.PhoneNumber) (trunk.Route, error) {
	return trunk.Route{}, callwright.Invalid("from", "is not attached")
}
