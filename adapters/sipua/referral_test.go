package sipua_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

const carol = callwright.PhoneNumber("+15550100003")

// transfers is a sip.Transfers that routes every transfer to one server, or returns refusal.
type transfers struct {
	server  uri.URI
	refusal error
	asked   atomic.Int32
}

func (r *transfers) Transfer(_ context.Context, over trunk.Route, _ callwright.PhoneNumber) (trunk.Route, error) {
	r.asked.Add(1)
	if r.refusal != nil {
		return trunk.Route{}, r.refusal
	}
	route := over
	route.Number, route.Servers = bob, []uri.URI{r.server}
	return route, nil
}

// referring is an answered call whose scripted peer may transfer the agent to a target.
type referring struct {
	*caller
	t      *testing.T
	agent  *agent
	leg    call.Leg
	rule   *transfers
	target func() *wire
}

func newReferring(t *testing.T, change func(*sipua.Config)) *referring {
	t.Helper()
	address, accept := listenWire(t, "127.0.0.1")
	server, err := uri.Parse("sip:" + address + ";transport=tls")
	if err != nil {
		t.Fatal(err)
	}
	rule := &transfers{server: server}
	a := newAgent(t, func(cfg *sipua.Config) {
		cfg.Transfers = rule
		if change != nil {
			change(cfg)
		}
	})
	r := &referring{caller: newCaller(t, a), t: t, agent: a, rule: rule, target: accept}
	legs := answer(t, a)
	r.connected()
	r.leg = legOf(t, legs)
	return r
}

// refer sends a REFER, and checks that it receives 202 and a first NOTIFY.
func (r *referring) refer() {
	r.t.Helper()
	r.ask("REFER", "", "Refer-To: <sip:"+carol.String()+"@elsewhere.test;user=phone>", "Contact: <sip:peer@x>")
	if accepted := r.response(202); accepted.get("Contact") == "" {
		r.t.Errorf("%v", accepted.header)
	}
	r.told("SIP/2.0 100 Trying", false)
}

// told checks the status and the subscription state of the next NOTIFY, and answers it.
func (r *referring) told(status string, final bool) message {
	r.t.Helper()
	n := r.request("NOTIFY")
	state := "active;expires=180"
	if final {
		state = "terminated;reason=noresource"
	}
	if n.body != status+"\r\n" || n.get("Subscription-State") != state || n.get("Contact") == "" ||
		!strings.HasPrefix(n.get("Event"), "refer") || n.get("Content-Type") != "message/sipfrag;version=2.0" {
		r.t.Errorf("NOTIFY %v\n%q, want %q", n.header, n.body, status)
	}
	r.reply(n, 200, "", "")
	return n
}

// invited waits for the INVITE to the target and checks its Request-URI and From.
func (r *referring) invited() (*wire, message) {
	r.t.Helper()
	w := r.target()
	invite := w.request("INVITE")
	if !strings.HasPrefix(invite.start, "INVITE sip:"+carol.String()+"@") || !strings.Contains(invite.get("From"), bob.String()) {
		r.t.Errorf("%s\n%v", invite.start, invite.header)
	}
	return w, invite
}

// happened waits for the transfer that the leg reports to its owner.
func (r *referring) happened() call.PeerTransfer {
	r.t.Helper()
	select {
	case e := <-r.leg.(call.Transferable).Transfers():
		if e.To != carol {
			r.t.Errorf("%+v", e)
		}
		return e
	case <-within(r.t).Done():
		r.t.Fatal("the owner does not hear of the transfer")
		return call.PeerTransfer{}
	}
}

// goesOn checks that the call has not ended.
func (r *referring) goesOn() {
	r.t.Helper()
	select {
	case <-r.leg.Done():
		r.t.Fatalf("the call is over: %+v", r.leg.Ending())
	default:
	}
}

// hangUpFrom sends a BYE from the target of a transfer and waits for its 200.
func hangUpFrom(t *testing.T, w *wire, invite message, cseq int) {
	t.Helper()
	w.send("", "BYE sip:x@y SIP/2.0", fmt.Sprintf("Via: SIP/2.0/TLS x;branch=z9hG4bKbye%d", cseq), "Max-Forwards: 70",
		"From: "+invite.get("To")+";tag=target", "To: "+invite.get("From"), "Call-ID: "+invite.get("Call-Id"),
		fmt.Sprintf("CSeq: %d BYE", cseq))
	w.response(200)
}

func TestTransferByPeer(t *testing.T) {
	t.Parallel()
	r := newReferring(t, nil)
	r.refer()
	w, invite := r.invited()
	w.reply(invite, 180, "target", "")
	r.told("SIP/2.0 180 Ringing", false)
	w.reply(invite, 200, "target", strings.Replace(answerSDP(), "30000", "40000", 1))
	w.request("ACK")
	if n := r.told("SIP/2.0 200 OK", true); n.get("Event") != "refer" {
		t.Errorf("Event: %q", n.get("Event"))
	}
	if e := r.happened(); e.Failure != nil {
		t.Errorf("%+v", e)
	}
	r.reply(r.request("BYE"), 200, "", "") // sent one second after the transfer
	r.goesOn()
	if got := r.leg.Info(); got.Peer != w.conn.LocalAddr().String() {
		t.Errorf("carried by %+v", got)
	}
	applied := r.agent.media.last(t).negotiated()
	if len(applied) != 2 || applied[1].RemoteRTP.Port() != 40000 || applied[0].LocalCrypto.Key.Equal(applied[1].LocalCrypto.Key) ||
		applied[0].Local != applied[1].Local {
		t.Errorf("%d negotiations: %v", len(applied), applied)
	}
	if n := r.agent.media.open.Load(); n != 1 {
		t.Errorf("%d media sessions", n)
	}
	hangUpFrom(t, w, invite, 1)
	if e := ends(t, r.leg); e.Cause != call.CauseRemoteHangup || !e.ByPeer {
		t.Errorf("%+v", e)
	}
}

// TestTransferByPeerThatLeaves checks that the transfer continues if the peer sends BYE after its REFER was accepted, and that the call
// ends if the transfer then fails.
func TestTransferByPeerThatLeaves(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"and the target answers": 200, "and the target is busy": 486} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReferring(t, nil)
			r.refer()
			w, invite := r.invited()
			r.ask("BYE", "")
			r.response(200)
			eventually(t, "the audio is on hold", func() bool {
				applied := r.agent.media.last(t).negotiated()
				return len(applied) == 2 && applied[1].RemoteHold && applied[1].Direction == sdp.Inactive
			})
			r.goesOn()
			w.reply(invite, status, "target", map[int]string{200: answerSDP()}[status])
			w.request("ACK")
			if status == 200 {
				if e := r.happened(); e.Failure != nil {
					t.Errorf("%+v", e)
				}
				r.goesOn()
				hangUpFrom(t, w, invite, 1)
			} else if e := r.happened(); e.Failure == nil || e.Failure.SIPCode != 486 {
				t.Errorf("%+v", e)
			}
			if e := ends(t, r.leg); e.Cause != call.CauseRemoteHangup {
				t.Errorf("%+v", e)
			}
			if n := r.agent.media.open.Load(); n != 0 {
				t.Errorf("%d media sessions are left", n)
			}
		})
	}
}

// TestTransferByPeerFails checks that a failed transfer does not affect the call, and that the peer may repeat it.
func TestTransferByPeerFails(t *testing.T) {
	t.Parallel()
	r := newReferring(t, nil)
	r.refer()
	w, invite := r.invited()
	w.reply(invite, 486, "target", "")
	w.request("ACK")
	r.told("SIP/2.0 486 Busy Here", true)
	if e := r.happened(); e.Failure == nil || e.Failure.Cause != call.CauseBusy {
		t.Errorf("%+v", e)
	}
	r.goesOn()
	r.ask("OPTIONS", "")
	r.response(200)
	if n := len(r.agent.media.last(t).negotiated()); n != 1 {
		t.Errorf("%d negotiations", n)
	}
	r.refer()
	again := w.request("INVITE") // uses the same connection
	w.reply(again, 200, "target", answerSDP())
	w.request("ACK")
	if n := r.told("SIP/2.0 200 OK", true); n.get("Event") != fmt.Sprintf("refer;id=%d", r.cseq) {
		t.Errorf("Event: %q", n.get("Event"))
	}
	r.ask("BYE", "")
	r.response(200)
	r.goesOn()
	hangUpFrom(t, w, again, 1)
	ends(t, r.leg)
}

// TestHangupDuringTransferByPeer checks that Hangup ends the call and cancels the call to the target while it rings.
func TestHangupDuringTransferByPeer(t *testing.T) {
	t.Parallel()
	r := newReferring(t, nil)
	r.refer()
	w, invite := r.invited()
	w.reply(invite, 180, "target", "")
	r.told("SIP/2.0 180 Ringing", false)
	done := make(chan error, 1)
	go func() { done <- r.leg.Hangup(within(t)) }()
	r.told("SIP/2.0 487 Request Terminated", true)
	r.reply(r.request("BYE"), 200, "", "")
	cancel := w.request("CANCEL")
	w.reply(cancel, 200, "target", "")
	w.reply(invite, 487, "target", "")
	w.request("ACK")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if e := ends(t, r.leg); e.Cause != call.CauseLocalHangup {
		t.Errorf("%+v", e)
	}
}

// TestTransferByPeerIsRefused checks that a refused REFER does not affect the call and that no number is called.
func TestTransferByPeerIsRefused(t *testing.T) {
	t.Parallel()
	r := newReferring(t, nil)
	for _, tt := range []struct {
		lines  []string
		status int
	}{
		{nil, 400},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x>", "r: <sip:" + carol.String() + "@x>"}, 400},
		{[]string{"Refer-To: <http://example.com/>"}, 416},
		{[]string{"Refer-To: <sip:102@pbx.test>"}, 404},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2>"}, 603},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x?Subject=x&Replaces=a%40b>"}, 603},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x?%52eplaces=a>"}, 603},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x;y=z?Subject=x&r%65plac%65S=a%40b>"}, 603},
		{[]string{"Refer-To: <tel:" + carol.String() + "?%52EPLACES>"}, 603},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x;method=BYE>"}, 603},
		{[]string{"Refer-To: <sip:" + carol.String() + "@x;%4Dethod=B%59E>"}, 603},
	} {
		r.ask("REFER", "", tt.lines...)
		if refused := r.response(tt.status); !strings.HasPrefix(refused.get("Warning"), "399 ") {
			t.Errorf("%v: %v", tt.lines, refused.header)
		}
	}
	if n := r.rule.asked.Load(); n != 0 {
		t.Errorf("the policy was asked %d times", n)
	}
	r.rule.refusal = callwright.Errorf(callwright.CodeForbidden, "the organization's own numbers only")
	r.ask("REFER", "", "r: <tel:"+carol.String()+">")
	if refused := r.response(603); !strings.Contains(refused.get("Warning"), "the organization's own numbers only") {
		t.Errorf("%v", refused.header)
	}
	for refusal, status := range map[error]int{callwright.ErrUnavailable: 503, callwright.ErrNotFound: 500} {
		r.rule.refusal = refusal
		r.ask("REFER", "", "Refer-To: tel:"+carol.String())
		r.response(status)
	}
	r.rule.refusal = nil
	r.refer()
	w, invite := r.invited()
	r.ask("REFER", "", "Refer-To: <tel:"+carol.String()+">") // refused while a transfer is running
	r.response(491)
	w.reply(invite, 603, "target", "")
	w.request("ACK")
	r.told("SIP/2.0 603 Decline", true)
	r.ask("BYE", "")
	r.response(200)
	ends(t, r.leg)
}

// TestTransferByPeerWithoutARule checks that every REFER is refused if Config.Transfers is nil.
func TestTransferByPeerWithoutARule(t *testing.T) {
	t.Parallel()
	r := newReferring(t, func(cfg *sipua.Config) { cfg.Transfers = nil })
	r.ask("REFER", "", "Refer-To: <sip:"+carol.String()+"@x>")
	r.response(603)
	r.ask("BYE", "")
	r.response(200)
	ends(t, r.leg)
}

// TestTransfersInARow checks that a call accepts ten transfers and refuses the next one. The number is limited because each transfer rings
// a phone.
func TestTransfersInARow(t *testing.T) {
	t.Parallel()
	r := newReferring(t, nil)
	for range 10 {
		r.refer()
		w, invite := r.invited()
		w.reply(invite, 486, "target", "")
		w.request("ACK")
		r.target = func() *wire { return w } // the connection stays open
		r.told("SIP/2.0 486 Busy Here", true)
	}
	r.ask("REFER", "", "Refer-To: <sip:"+carol.String()+"@x>")
	r.response(603)
	r.ask("BYE", "")
	r.response(200)
	ends(t, r.leg)
	for range 10 {
		r.happened() // the channel holds all transfers without a reader
	}
}

// TestTransferByTarget checks that the target of a transfer may transfer the agent again, and that the first peer no longer may.
func TestTransferByTarget(t *testing.T) {
	t.Parallel()
	r := newReferring(t, nil)
	r.refer()
	w, invite := r.invited()
	w.reply(invite, 200, "target", answerSDP())
	w.request("ACK")
	r.told("SIP/2.0 200 OK", true)
	r.ask("INVITE", offerSDP("RTP/SAVP", "a=sendonly")) // no longer affects the audio
	r.response(200)
	r.ask("ACK", "")
	r.ask("REFER", "", "Refer-To: <sip:"+carol.String()+"@x>")
	r.response(491)
	r.ask("BYE", "")
	r.response(200)
	r.happened()
	address, accept := listenWire(t, "127.0.0.1")
	server, err := uri.Parse("sip:" + address + ";transport=tls")
	if err != nil {
		t.Fatal(err)
	}
	r.rule.server = server
	ours, tag, _ := strings.Cut(invite.get("From"), ";tag=")
	second := &referring{t: t, agent: r.agent, leg: r.leg, rule: r.rule, target: accept, caller: &caller{
		wire: w, uri: strings.Trim(ours, "<>"), target: "sip:x@y", callID: invite.get("Call-Id"), tag: tag,
		from: invite.get("To") + ";tag=target",
	}}
	second.refer()
	last, again := second.invited()
	last.reply(again, 200, "target", answerSDP())
	last.request("ACK")
	second.told("SIP/2.0 200 OK", true)
	second.ask("BYE", "")
	second.response(200)
	if e := second.happened(); e.Failure != nil {
		t.Errorf("%+v", e)
	}
	second.goesOn()
	if n := len(r.agent.media.last(t).negotiated()); n != 3 {
		t.Errorf("%d negotiations", n)
	}
	done := make(chan error, 1)
	go func() { done <- r.leg.Hangup(within(t)) }()
	last.reply(last.request("BYE"), 200, "", "")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAudioAfterTransferByPeer checks that after a transfer audio flows in both directions between the agent and the target, through real
// sockets.
func TestAudioAfterTransferByPeer(t *testing.T) {
	t.Parallel()
	r := newReferring(t, func(cfg *sipua.Config) { cfg.Media = newMedia(t) })
	peer, err := newMedia(t).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	r.refer()
	w, invite := r.invited()
	offer, err := sdp.Parse([]byte(invite.body))
	if err != nil {
		t.Fatal(err)
	}
	reply, n, err := sdp.Answer(sdp.Capabilities{Media: peer.Local(), Codecs: []sdp.Codec{sdp.PCMA}}, offer)
	if err == nil {
		err = peer.Apply(n)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !n.RemoteRTP.IsValid() || n.RemoteRTP.Addr() != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("%v", n.RemoteRTP)
	}
	w.reply(invite, 200, "target", string(reply.Bytes()))
	w.request("ACK")
	r.told("SIP/2.0 200 OK", true)
	r.ask("BYE", "")
	r.response(200)
	hears(t, "the target", peer.Write, func(ctx context.Context) ([]int16, error) {
		f, err := r.leg.Read(ctx)
		return f.In, err
	})
	hears(t, "the agent", r.leg.Write, func(ctx context.Context) ([]int16, error) {
		f, err := peer.Read(ctx)
		return f.In, err
	})
	hangUpFrom(t, w, invite, 1)
	ends(t, r.leg)
}
