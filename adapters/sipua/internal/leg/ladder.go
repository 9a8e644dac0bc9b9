package leg

import (
	"cmp"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/sip/ladder"
)

// sent adds a message that we have sent to the ladder. The parameter again marks a retransmission.
func (l *Leg) sent(msg sip.Message, again bool) {
	s := l.event(msg)
	if req, ok := msg.(*sip.Request); ok {
		s.Peer = cmp.Or(req.MessageData.Destination(), s.Peer)
	}
	s.Sent, s.Retransmit = true, again
	l.log.Step(s)
}

// received adds a message of the peer to the ladder. The parameter again marks a retransmission.
func (l *Leg) received(msg sip.Message, again bool) {
	s := l.event(msg)
	s.Peer = cmp.Or(msg.Source(), s.Peer)
	s.Retransmit = again
	l.log.Step(s)
}

// acknowledged adds the ACK of a failed INVITE to the ladder. sipgo's transaction sends that ACK (RFC 3261, 17.1.1.3). For a status below
// 300, acknowledged does nothing.
func (l *Leg) acknowledged(refusal *sip.Response) {
	if refusal.StatusCode < 300 {
		return
	}
	s := l.event(refusal)
	s.Sent, s.Method, s.Status, s.Reason, s.Body = true, string(sip.ACK), 0, "", ""
	l.log.Step(s)
}

// replied adds two messages to the ladder: a request that was answered without the state machine, and the response.
func (l *Leg) replied(req *sip.Request, status int) {
	l.received(req, false)
	s := l.event(req)
	s.Sent, s.Status, s.Reason, s.Body = true, status, message.Reason(status), ""
	l.log.Step(s)
}

// cancelled adds the CANCEL of an INVITE to the ladder, with the responses to both that the transaction sends.
func (l *Leg) cancelled(cancel *sip.Request) {
	l.replied(cancel, sip.StatusOK)
	s := l.event(cancel)
	s.Sent, s.Method = true, string(sip.INVITE)
	s.Status, s.Reason = sip.StatusRequestTerminated, message.Reason(sip.StatusRequestTerminated)
	l.log.Step(s)
}

func (l *Leg) event(msg sip.Message) ladder.Event {
	s := message.Event(msg)
	s.Transport, s.Peer = l.tls, l.flow.Address().String()
	return s
}
