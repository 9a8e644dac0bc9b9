package sipua

import (
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
)

// phonecall is one call: its machine, and what carries out the machine's effects.
type phonecall struct {
	ua    *UA
	log   *slog.Logger
	id    identity
	route trunk.Route
	flow  flow
	media *talk
	entry *entry
	box   mailbox

	// Only what the mailbox runs touches these.
	machine   dialog.Call
	inbox     inbox
	timers    map[dialog.Timer]*running
	invite    *sip.Request  // our last INVITE: for CANCEL and the ACK's credentials
	inviteTx  *sip.ClientTx // of invite
	challenge *challenge    // of the last 401 or 407
	extra     []sip.Header  // to add to our first INVITE
	open      map[requestKey]arrival
	success   *sip.Response // our 2xx that waits for its ACK
	heard     heard         // of the peer that we call
	onRinging func()

	established chan struct{} // closed when both sides have answered
	done        chan struct{} // closed when it is over
	transferred chan dialog.Transferred
	transfer    sync.Mutex // one at a time

	first   inviteKey        // of an inbound call
	ending  call.Ending      // set before done is closed
	outcome failover.Outcome // likewise
}

// requestKey finds the request of the peer that a Respond is for.
type requestKey struct {
	method dialog.Method
	cseq   uint32
}

// running is an armed timer. A stopped one may have posted its event already, so the event names its timer.
type running struct{ timer *time.Timer }

func (u *UA) newCall(id identity, route trunk.Route, f flow, e *entry) *phonecall {
	log := u.log.With("sip_call_id", id.callID)
	return &phonecall{
		media: &talk{log: log},
		ua:    u, id: id, route: route, flow: f, entry: e, log: log,
		machine: dialog.NewCall(dialog.Config{
			LocalTag: id.localTag, T1: sip.T1, T2: sip.T2, Session: u.config.SessionExpires, Seed: seed(),
		}),
		timers: map[dialog.Timer]*running{}, open: map[requestKey]arrival{}, heard: heard{any: make(chan struct{})},
		established: make(chan struct{}), done: make(chan struct{}), transferred: make(chan dialog.Transferred, 1),
	}
}

func seed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint64(b[:])
}

// post hands an event to the machine, after those posted before.
func (c *phonecall) post(ev dialog.Event) { c.box.post(func() { c.apply(ev) }) }

// apply runs in the mailbox.
func (c *phonecall) apply(ev dialog.Event) {
	phase := c.machine.Phase()
	next, effects, err := c.machine.Next(ev)
	if err != nil {
		c.log.Debug("event refused", "error", err)
		c.refused(ev)
		return
	}
	c.machine = next
	switch ev := ev.(type) {
	case dialog.Incoming:
		c.arrived(c.open[requestKey{dialog.INVITE, ev.CSeq}].req)
	case dialog.Hangup:
		if phase == dialog.Calling || phase == dialog.Proceeding {
			c.entry.note(ladder.NoteGivenUp, ev.Reason)
		}
	}
	for _, e := range effects {
		c.effect(e)
	}
}

// refused answers a request that has no place in the call, and a transfer that comes too early or too late.
func (c *phonecall) refused(ev dialog.Event) {
	switch ev := ev.(type) {
	case dialog.Request:
		if ev.Method != dialog.ACK {
			c.respond(dialog.Respond{Method: ev.Method, CSeq: ev.CSeq, Status: 481})
		}
	case dialog.Transfer:
		c.tellTransfer(dialog.Transferred{})
	}
}

func (c *phonecall) effect(e dialog.Effect) {
	switch e := e.(type) {
	case dialog.Send:
		c.send(e)
	case dialog.Respond:
		c.respond(e)
	case dialog.Arm:
		c.arm(e.Timer, e.After)
	case dialog.Disarm:
		c.disarm(e.Timer)
	case dialog.Ringing:
		if c.onRinging != nil {
			c.onRinging()
		}
	case dialog.Established:
		c.establish()
	case dialog.Negotiate:
		c.post(c.media.judge(c.ua.contact.Host))
	case dialog.Renegotiated:
		if err := c.media.accept(); err != nil {
			c.log.Warn("the answer to our re-INVITE is unusable", "error", err)
			c.post(dialog.Hangup{Cause: dialog.NotAcceptable, Reason: "the answer to our re-INVITE is unusable"})
		}
	case dialog.Transferred:
		c.tellTransfer(e)
	case dialog.StopMedia:
		c.media.close()
	case dialog.Ended:
		c.finish(e.Ending)
	}
}

// establish applies the peer's answer, if the last message had one, and lets the owner have the call.
func (c *phonecall) establish() {
	if err := c.media.accept(); err != nil {
		c.log.Warn("the answer is unusable", "error", err)
		c.post(dialog.Hangup{Cause: dialog.NotAcceptable, Reason: err.Error()})
		return
	}
	c.entry.answered()
	c.entry.note(ladder.NoteMediaStarted, c.media.codec()+", "+sdp.Suite)
	close(c.established)
}

func (c *phonecall) tellTransfer(t dialog.Transferred) {
	select {
	case c.transferred <- t:
	default: // whoever asked has gone
	}
}

func (c *phonecall) finish(why dialog.Ending) {
	c.ending = call.Ending{
		Cause: call.Cause(why.Cause), SIPCode: why.Status, Reason: why.Reason, ByPeer: why.ByPeer,
	}
	c.outcome = c.heard.outcome(why)
	c.entry.end(c.callEnd(why))
	if tx := c.inviteTx; tx != nil {
		// An INVITE that was given up without a final answer would live for ever (there is no timer C).
		time.AfterFunc(64*sip.T1, tx.Terminate)
	}
	c.ua.forget(c)
	c.log.Info("call ended", "cause", why.Cause, "status", why.Status, "by_peer", why.ByPeer, "reason", why.Reason)
	close(c.done)
}

func (c *phonecall) arm(t dialog.Timer, after time.Duration) {
	c.disarm(t)
	r := &running{}
	c.timers[t] = r
	r.timer = time.AfterFunc(after, func() {
		c.box.post(func() {
			if c.timers[t] == r {
				delete(c.timers, t)
				c.apply(dialog.Fired{Timer: t})
			}
		})
	})
}

func (c *phonecall) disarm(t dialog.Timer) {
	if r := c.timers[t]; r != nil {
		r.timer.Stop()
		delete(c.timers, t)
	}
}
