package sipua

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
)

// phonecall is one call: its machine, and what carries out the machine's effects.
type phonecall struct {
	ua    *UA
	log   *slog.Logger
	id    identity
	route trunk.Route
	flow  flow
	media *talk
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
	onRinging func()

	established chan struct{} // closed when both sides have answered
	done        chan struct{} // closed when it is over
	transferred chan dialog.Transferred
	transfer    sync.Mutex // one at a time

	first  inviteKey   // of an inbound call
	ending call.Ending // set before done is closed
	rang   bool        // likewise
}

// requestKey finds the request of the peer that a Respond is for.
type requestKey struct {
	method dialog.Method
	cseq   uint32
}

// running is an armed timer. A stopped one may have posted its event already, so the event names its timer.
type running struct{ timer *time.Timer }

func (u *UA) newCall(id identity, route trunk.Route, f flow) *phonecall {
	log := u.log.With("sip_call_id", id.callID)
	return &phonecall{
		media: &talk{log: log},
		ua:    u, id: id, route: route, flow: f, log: log,
		machine: dialog.NewCall(dialog.Config{
			LocalTag: id.localTag, T1: sip.T1, T2: sip.T2, Session: u.config.SessionExpires, Seed: rand.Uint64(),
		}),
		timers: map[dialog.Timer]*running{}, open: map[requestKey]arrival{},
		established: make(chan struct{}), done: make(chan struct{}), transferred: make(chan dialog.Transferred, 1),
	}
}

// post hands an event to the machine, after those posted before.
func (c *phonecall) post(ev dialog.Event) { c.box.post(func() { c.apply(ev) }) }

// apply runs in the mailbox.
func (c *phonecall) apply(ev dialog.Event) {
	next, effects, err := c.machine.Next(ev)
	if err != nil {
		c.log.Debug("event refused", "error", err)
		c.refused(ev)
		return
	}
	c.machine = next
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
		c.post(c.media.judge(c.ua.name()))
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
	c.rang = why.Rang
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

// request takes a request of the peer in. It runs in the mailbox.
func (c *phonecall) request(a arrival) {
	now := c.inbox.add(a)
	if len(c.inbox.waiting) > 0 {
		time.AfterFunc(patience, func() { c.box.post(func() { c.deliver(c.inbox.overdue()) }) })
	}
	c.deliver(now)
}

func (c *phonecall) deliver(arrivals []arrival) {
	for _, a := range arrivals {
		if tag := c.machine.RemoteTag(); tag != "" && a.ev.RemoteTag != tag {
			if a.ev.Method != dialog.ACK {
				_ = a.tx.Respond(plain(a.req, c.ua.name(), refusal{status: sip.StatusCallTransactionDoesNotExists}))
			}
			continue
		}
		switch a.ev.Method {
		case dialog.ACK:
			if c.success != nil && c.success.CSeq().SeqNo == a.ev.CSeq {
				c.success = nil
			}
			delete(c.open, requestKey{dialog.INVITE, a.ev.CSeq})
		default:
			c.open[requestKey{a.ev.Method, a.ev.CSeq}] = a
		}
		if a.ev.Body && (a.ev.Method == dialog.INVITE || a.ev.Method == dialog.ACK) {
			c.media.hear(a.req.Body())
		}
		c.apply(a.ev)
	}
}

// respond answers a request of the peer.
func (c *phonecall) respond(r dialog.Respond) {
	key := requestKey{r.Method, r.CSeq}
	a, ok := c.open[key]
	if !ok {
		return // sipgo has answered it: a CANCEL, or the INVITE under it
	}
	if r.Again {
		if c.success != nil {
			_ = a.tx.Respond(c.success)
		}
		return
	}
	res := c.id.response(a.req, r)
	if r.Body != dialog.NoBody {
		body, err := c.media.describe(r.Body)
		if err != nil {
			c.log.Error("no session description", "error", err)
			res = plain(a.req, c.ua.name(), refusal{status: sip.StatusInternalServerError})
		} else {
			addBody(res, body)
		}
	}
	success := r.Method == dialog.INVITE && res.IsSuccess()
	if success {
		c.success, c.inbox.ackDue = res, true
	}
	if err := a.tx.Respond(res); err != nil && success {
		c.log.Info("the answer could not be delivered", "error", err)
		c.post(dialog.Undelivered{Cancelled: errors.Is(err, sip.ErrTransactionCanceled)})
	}
	if r.Status >= 200 && !success {
		delete(c.open, key)
	}
}

// send sends what the machine wants sent.
func (c *phonecall) send(s dialog.Send) {
	if s.Method == dialog.CANCEL {
		c.sendCancel()
		return
	}
	req, err := c.build(s)
	if err != nil {
		c.log.Error("request can't be built", "method", s.Method, "error", err)
		c.unsent(s, err)
		return
	}
	if s.Method == dialog.ACK {
		if err := c.flow.write(c.ua, req, s.Via); err != nil {
			c.log.Warn("ACK was not sent", "error", err)
		}
		return
	}
	tx, err := c.flow.request(c.ua, req, s.Via)
	if err != nil {
		c.unsent(s, err)
		return
	}
	if s.Method == dialog.INVITE {
		c.invite, c.inviteTx = req, tx
		// A 2xx that comes again, or another one of a fork, is no response to the transaction any more (RFC 6026).
		tx.OnRetransmission(func(res *sip.Response) { c.box.post(func() { c.response(s, res) }) })
	}
	go c.follow(s, tx)
}

func (c *phonecall) build(s dialog.Send) (*sip.Request, error) {
	req, err := c.id.request(s)
	if err != nil {
		return nil, err
	}
	if s.Method == dialog.INVITE && s.RemoteTag == "" {
		for _, h := range c.extra {
			req.AppendHeader(h)
		}
	}
	if s.Method == dialog.ACK && c.invite != nil {
		sip.CopyHeaders("Authorization", c.invite, req) // RFC 3261, 13.2.2.4
		sip.CopyHeaders("Proxy-Authorization", c.invite, req)
	}
	if s.Authorize && c.challenge != nil {
		if err := c.challenge.authorize(req, c.route.Credentials); err != nil {
			return nil, fmt.Errorf("digest: %w", err)
		}
	}
	if s.Body == dialog.NoBody {
		req.SetBody(nil)
		return req, nil
	}
	body, err := c.media.describe(s.Body)
	if err != nil {
		return nil, err
	}
	addBody(req, body)
	return req, nil
}

// unsent is a request that never left: as if the peer could not be reached (RFC 3261, 8.1.3.1).
func (c *phonecall) unsent(s dialog.Send, err error) {
	c.log.Warn("request was not sent", "method", s.Method, "error", err)
	if !s.Stray {
		c.post(dialog.Response{
			Method: s.Method, CSeq: s.CSeq, Status: sip.StatusServiceUnavailable, Reason: "not sent", Local: true,
		})
	}
}

func (c *phonecall) sendCancel() {
	if c.invite == nil {
		return
	}
	tx, err := c.flow.stack.request(c.ua.context, cancelOf(c.invite), c.flow.address)
	if err != nil {
		c.log.Warn("CANCEL was not sent", "error", err)
		return
	}
	go c.follow(dialog.Send{Method: dialog.CANCEL, Stray: true}, tx) // its answer says nothing; the INVITE's does
}

// follow passes a transaction's responses on until its final one. They have to be read: sipgo holds a lock meanwhile.
func (c *phonecall) follow(s dialog.Send, tx *sip.ClientTx) {
	for {
		select {
		case res := <-tx.Responses():
			if !s.Stray {
				c.box.post(func() { c.response(s, res) })
			}
			if !res.IsProvisional() {
				return
			}
		case <-tx.Done():
			if s.Stray {
				return
			}
			status := sip.StatusServiceUnavailable
			if errors.Is(tx.Err(), sip.ErrTransactionTimeout) {
				status = sip.StatusRequestTimeout
			}
			c.post(dialog.Response{
				Method: s.Method, CSeq: s.CSeq, Status: status, Reason: "the peer did not answer", Local: true,
			})
			return
		}
	}
}

// response runs in the mailbox.
func (c *phonecall) response(s dialog.Send, res *sip.Response) {
	ev := readResponse(s.Method, s.CSeq, res)
	if res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired {
		if ch := strongest(res); ch != nil && c.route.Credentials.Username != "" {
			c.challenge, ev.Challenge, ev.Stale = ch, true, ch.Stale
		}
	}
	if s.Method == dialog.INVITE && res.IsSuccess() && ev.Body {
		c.media.hear(res.Body())
	}
	c.apply(ev)
}
