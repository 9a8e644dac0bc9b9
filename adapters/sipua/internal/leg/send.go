package leg

import (
	"errors"
	"fmt"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/sip/dialog"
)

// send sends a request. For any request but ACK and CANCEL, a goroutine passes the responses to the state machine.
func (l *Leg) send(s dialog.Send) {
	if s.Method == dialog.CANCEL {
		l.sendCancel(s.Why)
		return
	}
	req, err := l.build(s)
	if err != nil {
		l.logger.Error("request not built", "method", s.Method, "error", err)
		l.unsent(s, err)
		return
	}
	if s.Method == dialog.ACK {
		if err := l.flow.Write(req, s.Via); err != nil {
			l.logger.Warn("ACK not sent", "error", err)
			return
		}
		l.sent(req, false)
		return
	}
	tx, err := l.flow.Request(req, s.Via)
	if err != nil {
		l.unsent(s, err)
		return
	}
	l.sent(req, false)
	if s.Method == dialog.INVITE && s.RemoteTag == "" {
		l.replies.sent(s.Authorize)
	}
	if s.Method == dialog.INVITE {
		l.invite, l.inviteTx = req, tx
		// A retransmitted 2xx, or a 2xx of another fork, arrives outside of the transaction (RFC 6026).
		tx.OnRetransmission(func(res *sip.Response) { l.mailbox.Post(func() { l.response(s, res, true) }) })
	}
	go l.follow(s, tx)
}

func (l *Leg) build(s dialog.Send) (*sip.Request, error) {
	req, err := l.id.Request(s)
	if err != nil {
		return nil, err
	}
	if s.Method == dialog.INVITE && s.RemoteTag == "" {
		for _, h := range l.extra {
			req.AppendHeader(h)
		}
	}
	if s.Method == dialog.ACK && l.invite != nil {
		sip.CopyHeaders("Authorization", l.invite, req) // required by RFC 3261, 13.2.2.4
		sip.CopyHeaders("Proxy-Authorization", l.invite, req)
	}
	if err := l.addBody(req, s); err != nil {
		return nil, err
	}
	return req, l.authorize(req, s)
}

func (l *Leg) addBody(req *sip.Request, s dialog.Send) error {
	switch {
	case s.Method == dialog.NOTIFY:
		req.SetBody(message.Fragment(s.Notify))
	case s.Body == dialog.NoBody:
		req.SetBody(nil)
	default:
		body, err := l.media.requested()
		if err != nil {
			return err
		}
		message.AddSDP(req, body)
	}
	return nil
}

// authorize adds our credentials to a request that is repeated after a challenge. For any other request, it deletes the challenges to the
// method's previous request.
func (l *Leg) authorize(req *sip.Request, s dialog.Send) error {
	if !s.Authorize {
		delete(l.answers, s.Method)
		return nil
	}
	if answers := l.answers[s.Method]; answers != nil {
		if err := answers.Authorize(req, l.route.Credentials); err != nil {
			return fmt.Errorf("digest: %w", err)
		}
	}
	return nil
}

// challenged stores the challenges of a response, and reports whether the request may be repeated with credentials. It returns false if the
// trunk has no credentials.
func (l *Leg) challenged(m dialog.Method, res *sip.Response) bool {
	if l.route.Credentials.Username == "" {
		return false
	}
	if l.answers[m] == nil {
		l.answers[m] = &auth.Answers{}
	}
	return l.answers[m].Add(res)
}

// unsent handles a request that could not be sent as if the peer had answered 503 (RFC 3261, 8.1.3.1).
func (l *Leg) unsent(s dialog.Send, err error) {
	l.logger.Warn("request not sent", "method", s.Method, "error", err)
	if !s.Stray {
		l.post(dialog.Response{
			Method: s.Method, CSeq: s.CSeq, Status: sip.StatusServiceUnavailable, Reason: "not sent", Local: true,
		})
	}
}

func (l *Leg) sendCancel(why dialog.Cause) {
	if l.invite == nil {
		return
	}
	req := message.NewCancel(l.invite, why)
	tx, err := l.flow.Cancel(req)
	if err != nil {
		l.logger.Warn("CANCEL not sent", "error", err)
		return
	}
	l.sent(req, false)
	go l.follow(dialog.Send{Method: dialog.CANCEL, Stray: true}, tx) // stray, because the response to the INVITE decides
}

// follow passes the responses of a transaction to the mailbox until the final one. If the transaction ends without a final response, and s
// is not stray, follow passes a 408 or a 503 of our own. Every response must be read, because sipgo holds a lock until then.
func (l *Leg) follow(s dialog.Send, tx *sip.ClientTx) {
	for {
		select {
		case res := <-tx.Responses():
			l.mailbox.Post(func() { l.response(s, res, false) })
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
			l.post(dialog.Response{
				Method: s.Method, CSeq: s.CSeq, Status: status, Reason: "the peer did not answer", Local: true,
			})
			return
		}
	}
}

// maxEarly is the maximum number of branches of a forked INVITE whose SDP is stored.
const maxEarly = 16

// describe stores the SDP of a response to an INVITE. The SDP of a provisional response is the answer of its branch, which the 2xx need not
// repeat (RFC 3261, 13.2.1).
func (l *Leg) describe(ev *dialog.Response, res *sip.Response) {
	body := message.Description(res)
	switch {
	case res.IsProvisional():
		if body != nil && l.early != nil && len(l.early) < maxEarly {
			l.early[ev.RemoteTag] = body
		}
	case res.IsSuccess():
		if body == nil {
			body = l.early[ev.RemoteTag]
		}
		if ev.Body = body != nil; ev.Body {
			l.media.remoteSDP, l.early = body, nil
		}
	}
}

// response passes a response to the state machine. It must run in the mailbox. later marks a 2xx that arrives after the transaction's final
// response.
func (l *Leg) response(s dialog.Send, res *sip.Response, later bool) {
	ev := message.ReadResponse(s.Method, s.CSeq, res)
	l.received(res, later && ev.RemoteTag == l.machine.RemoteTag())
	if s.Stray {
		return
	}
	if s.Method == dialog.INVITE {
		l.acknowledged(res)
	}
	if s.Method == dialog.INVITE && s.RemoteTag == "" {
		l.replies.add(res)
	}
	if res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired {
		ev.Challenge = l.challenged(s.Method, res)
	}
	if s.Method == dialog.INVITE {
		l.describe(&ev, res)
	}
	l.apply(ev)
}
