package sipua_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// attempts is a calllog.AttemptObserver that records its calls for the tests.
type attempts struct {
	block chan struct{} // if not nil, Begin blocks until it is closed

	mu      sync.Mutex
	entries []*written
}

// written is one attempt as the observer received it.
type written struct {
	told     string         // the names of the received events, in order
	begun    calllog.Record // the record of Begin
	ended    calllog.Record // the record of Finish
	evidence *health.Evidence
	steps    []ladder.Event
}

func (j *attempts) entry(id, what string) *written {
	i := slices.IndexFunc(j.entries, func(w *written) bool { return w.begun.ID == id })
	if i < 0 {
		w := &written{told: what}
		w.begun.ID = id
		j.entries = append(j.entries, w)
		return w
	}
	j.entries[i].told += " " + what
	return j.entries[i]
}

func (j *attempts) Begin(_ context.Context, r calllog.Record) {
	if j.block != nil {
		<-j.block
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entry(r.ID, "begin").begun = r
}

func (j *attempts) Answered(_ context.Context, r calllog.Record, _ time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entry(r.ID, "answered")
}

func (j *attempts) Finish(_ context.Context, r calllog.Record, evidence *health.Evidence, steps []ladder.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := j.entry(r.ID, "end")
	w.ended, w.evidence, w.steps = r, evidence, steps
}

func (j *attempts) written() []*written {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// all waits until exactly n attempts have ended, and returns them sorted by their attempt numbers.
func (j *attempts) all(t testing.TB, n int) []*written {
	t.Helper()
	eventually(t, fmt.Sprintf("%d attempts are written down", n), func() bool {
		ended := 0
		for _, w := range j.written() {
			j.mu.Lock()
			if strings.HasSuffix(w.told, "end") {
				ended++
			}
			j.mu.Unlock()
		}
		return ended == n
	})
	entries := j.written()
	if len(entries) != n {
		t.Fatalf("%d attempts, not %d", len(entries), n)
	}
	slices.SortFunc(entries, func(a, b *written) int { return a.begun.Attempt - b.begun.Attempt })
	return entries
}

// watched returns an agent, and an observer that records its attempts.
func watched(t testing.TB, change func(*sipua.Config)) (*agent, *attempts) {
	t.Helper()
	j := &attempts{}
	return newAgent(t, func(c *sipua.Config) {
		c.Observer = j
		if change != nil {
			change(c)
		}
	}), j
}

// shown formats a ladder as text, with one line per step.
func shown(steps []ladder.Event) string {
	var b strings.Builder
	for _, s := range steps {
		arrow := "<"
		if s.Sent {
			arrow = ">"
		}
		switch {
		case s.Note != "":
			fmt.Fprintf(&b, "- %s", s.Note)
		case s.Status != 0:
			fmt.Fprintf(&b, "%s %d %s %s %d", arrow, s.Status, s.Reason, s.Method, s.CSeq)
		default:
			fmt.Fprintf(&b, "%s %s %d", arrow, s.Method, s.CSeq)
		}
		if s.Retransmit {
			b.WriteString(" again")
		}
		if s.Body != "" {
			b.WriteString(" [" + s.Body + "]")
		}
		b.WriteString("\n")
	}
	return b.String()
}

const secureBody = "[PCMU; sendrecv; AES_CM_128_HMAC_SHA1_80]"

func TestLadderOfAnAnsweredCall(t *testing.T) {
	t.Parallel()
	a, j := watched(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	p := dial(t, a, call.DialRequest{CallID: "parent", Org: org, From: alice, To: bob})
	w := accept()
	invite := w.request("INVITE")
	w.reply(invite, 180, "x", "")
	<-p.rang // otherwise sipgo may deliver the next response first
	w.reply(invite, 200, "x", answerSDP())
	w.request("ACK")
	l := p.leg()
	w.reply(invite, 200, "x", answerSDP())
	w.request("ACK")
	go func() { _ = l.Hangup(t.Context()) }()
	w.reply(w.request("BYE"), 200, "", "")
	ends(t, l)

	got := j.all(t, 1)[0]
	want := strings.Join([]string{
		"- resolved", "- connected", "> INVITE 1 [PCMU, PCMA; sendrecv; AES_CM_128_HMAC_SHA1_80]",
		"< 180 Test INVITE 1", "< 200 Test INVITE 1 " + secureBody, "> ACK 1", "- media started",
		"< 200 Test INVITE 1 again " + secureBody, "> ACK 1", "> BYE 2", "< 200 Test BYE 2", "- ended", "",
	}, "\n")
	if text := shown(got.steps); text != want {
		t.Errorf("the ladder is\n%s and not\n%s", text, want)
	}
	for _, s := range got.steps {
		message := s.Note == ""
		if s.At.IsZero() || s.Attempt != 1 || message && (s.Transport != "TLS 1.3" || s.Peer != address || !strings.HasPrefix(s.Branch, "z9hG4bK")) {
			t.Errorf("%+v", s)
		}
	}
	if d := got.steps[1].Detail; !strings.Contains(d, "TLS 1.3, TLS_") || !strings.Contains(d, "certificate verified (full)") {
		t.Errorf("connected: %q", d)
	}
	r := got.ended
	if got.told != "begin answered end" || r.Org != org || r.TrunkID != "trunk" || r.Number != alice || r.ParentID != "parent" ||
		r.Direction != trunk.Outbound || r.From != alice.String() || r.To != bob.String() || r.SIPCallID != invite.get("Call-Id") ||
		r.Attempt != 1 || r.Server != address || r.Source != "127.0.0.1" || len(r.ID) != 36 {
		t.Errorf("%s: %+v", got.told, r)
	}
	if got.begun.EndedAt != nil || got.begun.Source != "127.0.0.1" || got.begun.StartedAt.IsZero() {
		t.Errorf("begun: %+v", got.begun)
	}
	if r.AnsweredAt == nil || r.EndedAt == nil || r.SIPCode != 200 || r.Status != "200 Test" || r.Cause != "local_hangup" || r.Technical {
		t.Errorf("ended: %+v", r.End)
	}
	if e := got.evidence; e == nil || !e.Alive || e.Reason != "200 Test" {
		t.Errorf("evidence: %+v", e)
	}
}

func TestLadderOfAnIncomingCall(t *testing.T) {
	t.Parallel()
	a, j := watched(t, nil)
	pending := make(chan call.IncomingCall, 1)
	legs := make(chan call.Leg, 1)
	ctx := within(t)
	go func() {
		p, err := a.Accept(ctx)
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		pending <- p
		l, err := p.Answer(ctx)
		if err != nil {
			t.Errorf("answer: %v", err)
		}
		legs <- l
	}()
	c := newCaller(t, a)
	c.connected()
	l := <-legs
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
	got := j.all(t, 1)[0]
	want := strings.Join([]string{
		"- connected", "< INVITE 1 " + secureBody, "> 100 Trying INVITE 1", "> 180 Ringing INVITE 1",
		"> 200 OK INVITE 1 " + secureBody, "< ACK 1", "- media started", "< BYE 2", "> 200 OK BYE 2", "- ended", "",
	}, "\n")
	if text := shown(got.steps); text != want {
		t.Errorf("the ladder is\n%s and not\n%s", text, want)
	}
	r := got.ended
	if got.told != "begin answered end" || r.Org != org || r.TrunkID != "trunk" || r.Number != bob || r.Direction != trunk.Inbound ||
		r.From != alice.String() || r.To != bob.String() || r.SIPCallID != c.callID || r.Attempt != 1 || r.Server != "" ||
		r.Source != "127.0.0.1" || r.Status != "200 OK" || r.Cause != "remote_hangup" || r.AnsweredAt == nil || got.evidence != nil {
		t.Errorf("%s: %+v, %+v", got.told, r, got.evidence)
	}
	if offer := (<-pending).Caller(); offer.ID != r.ID {
		t.Errorf("the offer is %q, its record %q", offer.ID, r.ID)
	}
}

func TestIncomingCallIsCancelled(t *testing.T) {
	t.Parallel()
	a, j := watched(t, nil)
	ctx := within(t)
	go func() { _, _ = a.Accept(ctx) }()
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(180)
	c.ask("CANCEL", "")
	got := j.all(t, 1)[0]
	if text := shown(got.steps); !strings.Contains(text, "< CANCEL 1\n> 200 OK CANCEL 1\n> 487 Request Terminated INVITE 1\n- ended\n") {
		t.Errorf("the ladder is\n%s", text)
	}
	if r := got.ended; got.told != "begin end" || r.SIPCode != 487 || r.Cause != "cancelled" || r.Technical || r.AnsweredAt != nil {
		t.Errorf("%s: %+v", got.told, r)
	}
}

func TestIncomingCallThatIsNotAdmitted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err     error
		written int
	}{"a stranger": {callwright.ErrForbidden, 1}, "nobody's number": {callwright.ErrNotFound, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, j := watched(t, nil)
			a.routes.inbound = tt.err
			if tt.written == 0 {
				a.routes.route = trunk.Route{}
			}
			c := newCaller(t, a)
			c.ask("INVITE", offerSDP("RTP/SAVP"))
			c.response(403)
			entries := j.all(t, tt.written)
			if tt.written == 0 {
				return
			}
			want := "< INVITE 1 " + secureBody + "\n> 403 Forbidden INVITE 1\n- ended\n"
			if r := entries[0].ended; shown(entries[0].steps) != want || entries[0].told != "begin end" || r.SIPCode != 403 || r.Number != bob {
				t.Errorf("%+v\n%s", r, shown(entries[0].steps))
			}
		})
	}
}

func TestIncomingCallThatIsTooMuch(t *testing.T) {
	t.Parallel()
	a, j := watched(t, func(c *sipua.Config) { c.MaxCalls = 1 })
	ctx := within(t)
	go func() { _, _ = a.Accept(ctx) }()
	first := newCaller(t, a)
	first.ask("INVITE", offerSDP("RTP/SAVP"))
	first.response(180)
	second := newCaller(t, a)
	second.ask("INVITE", offerSDP("RTP/SAVP"))
	second.response(503)
	first.ask("CANCEL", "")
	got := j.all(t, 2)
	i := slices.IndexFunc(got, func(w *written) bool { return w.ended.SIPCallID == second.callID })
	if i < 0 {
		t.Fatal("the second call is not written down")
	}
	if r := got[i].ended; r.Cause != "overload" || r.SIPCode != 503 || r.Technical || got[i].told != "begin end" {
		t.Errorf("%s: %+v", got[i].told, r)
	}
}

// TestSlowObserver checks that a blocked observer delays no call, and that Close waits until the observer has received every event.
func TestSlowObserver(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	a, j := watched(t, nil)
	j.block = block
	b := newAgent(t, nil)
	a.callsTo(t, b.Addr().String())
	out, in := connect(t, a, b)
	if err := out.Hangup(within(t)); err != nil {
		t.Fatal(err)
	}
	ends(t, in)
	eventually(t, "the call's place is free", func() bool { return a.Calls() == 0 })
	if n := len(j.written()); n != 0 {
		t.Fatalf("%d entries", n)
	}
	closed := make(chan error, 1)
	ctx := within(t)
	go func() { closed <- a.Close(ctx) }()
	select {
	case err := <-closed:
		t.Fatalf("closed before everything is written down: %v", err)
	case <-time.After(5 * testT1):
	}
	close(block)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got := j.all(t, 1)[0]; got.told != "begin answered end" {
		t.Error(got.told)
	}
}

// TestObserverOfManyCalls checks that the observer receives exactly one beginning and one end of every attempt, for any result and in both
// directions.
func TestObserverOfManyCalls(t *testing.T) {
	t.Parallel()
	const calls = 50
	a, out := watched(t, func(c *sipua.Config) { c.MaxCalls = 2 * calls })
	b, in := watched(t, func(c *sipua.Config) { c.MaxCalls, c.InvitesPerSecond = 2*calls, 1000 })
	a.callsTo(t, "127.0.0.1:1", b.Addr().String())
	a.routes.route.Failover.Enabled = true
	ctx := within(t)
	accepting, stop := context.WithCancel(ctx)
	defer stop()
	var answering, calling sync.WaitGroup
	for i := range calls {
		answering.Go(func() { // the callee rejects, answers, or lets it ring
			p, err := b.Accept(accepting)
			if err != nil {
				return // all callers have hung up
			}
			switch i % 3 {
			case 0:
				_ = p.Reject(call.CauseBusy)
			case 1:
				if l, err := p.Answer(ctx); err == nil {
					<-l.Done()
				}
			}
		})
		calling.Go(func() { // the caller hangs up after the answer, or before it
			limited, cancel := context.WithTimeout(ctx, 30*testT1)
			defer cancel()
			if l, err := a.Dial(limited, call.DialRequest{Org: org, From: alice, To: bob}, nil); err == nil {
				_ = l.Hangup(ctx)
			}
		})
	}
	calling.Wait()
	stop()
	answering.Wait()
	for _, ua := range []*agent{a, b} {
		if err := ua.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(out.written()); n < calls || n > 2*calls {
		t.Errorf("%d attempts of %d calls", n, calls)
	}
	for _, w := range append(out.written(), in.written()...) {
		if w.told != "begin end" && w.told != "begin answered end" {
			t.Errorf("%s %d: told %q", w.begun.Direction, w.begun.Attempt, w.told)
		}
		if last := w.steps[len(w.steps)-1]; last.Note != ladder.NoteEnded || w.ended.EndedAt == nil {
			t.Errorf("the last step is %+v", last)
		}
	}
}
