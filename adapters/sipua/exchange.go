package sipua

import (
	"errors"
	"fmt"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

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
				_ = a.tx.Respond(plain(a.req, c.ua.config.UserAgent, refusal{status: sip.StatusCallTransactionDoesNotExists}))
			}
			continue
		}
		c.received(a.req, false)
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

// cancelledBy takes the caller's CANCEL, which sipgo's transaction answers by itself (RFC 3261, 9.2).
func (c *phonecall) cancelledBy(cancel *sip.Request) {
	c.box.post(func() {
		c.cancelled(cancel)
		c.apply(dialog.Undelivered{Cancelled: true})
	})
}

// respond answers a request of the peer.
func (c *phonecall) respond(r dialog.Respond) {
	key := requestKey{r.Method, r.CSeq}
	a, ok := c.open[key]
	if !ok {
		return // sipgo has answered it: a CANCEL, or the INVITE under it
	}
	if r.Again {
		if c.success != nil && a.tx.Respond(c.success) == nil {
			c.sent(c.success, true)
		}
		return
	}
	res := c.id.response(a.req, r)
	if r.Body != dialog.NoBody {
		body, err := c.media.describe(r.Body)
		if err != nil {
			c.log.Error("no session description", "error", err)
			res = plain(a.req, c.ua.config.UserAgent, refusal{status: sip.StatusInternalServerError})
		} else {
			addBody(res, body)
		}
	}
	success := r.Method == dialog.INVITE && res.IsSuccess()
	if success {
		c.success, c.inbox.ackDue = res, true
	}
	switch err := a.tx.Respond(res); {
	case err == nil:
		c.sent(res, false)
	case success:
		c.log.Info("the answer could not be delivered", "error", err)
		c.success, c.inbox.ackDue = nil, false
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
			return
		}
		c.sent(req, false)
		return
	}
	tx, err := c.flow.request(c.ua, req, s.Via)
	if err != nil {
		c.unsent(s, err)
		return
	}
	c.sent(req, false)
	if s.Method == dialog.INVITE && s.RemoteTag == "" {
		c.heard.asked(s.Authorize)
	}
	if s.Method == dialog.INVITE {
		c.invite, c.inviteTx = req, tx
		// A 2xx that comes again, or another one of a fork, is no response to the transaction any more (RFC 6026).
		tx.OnRetransmission(func(res *sip.Response) { c.box.post(func() { c.response(s, res, true) }) })
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
	req := cancelOf(c.invite)
	tx, err := c.flow.stack.request(c.ua.context, req, c.flow.address)
	if err != nil {
		c.log.Warn("CANCEL was not sent", "error", err)
		return
	}
	c.sent(req, false)
	go c.follow(dialog.Send{Method: dialog.CANCEL, Stray: true}, tx) // its answer says nothing; the INVITE's does
}

// follow passes a transaction's responses on until its final one. They have to be read: sipgo holds a lock meanwhile.
func (c *phonecall) follow(s dialog.Send, tx *sip.ClientTx) {
	for {
		select {
		case res := <-tx.Responses():
			c.box.post(func() { c.response(s, res, false) })
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

// response runs in the mailbox; later says that the transaction has had its final response before.
func (c *phonecall) response(s dialog.Send, res *sip.Response, later bool) {
	ev := readResponse(s.Method, s.CSeq, res)
	c.received(res, later && ev.RemoteTag == c.machine.RemoteTag())
	if s.Stray {
		return
	}
	if s.Method == dialog.INVITE {
		c.acknowledged(res)
	}
	if s.Method == dialog.INVITE && s.RemoteTag == "" {
		c.heard.said(res)
	}
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
