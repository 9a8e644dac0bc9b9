package sipua

import (
	"cmp"
	"crypto/tls"

	"github.com/emiago/sipgo/sip"

	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/ladder"
)

// sent takes a message of ours into the call's ladder; again says that it was sent before.
func (c *phonecall) sent(msg sip.Message, again bool) {
	s := c.step(msg)
	if req, ok := msg.(*sip.Request); ok {
		s.Peer = cmp.Or(req.MessageData.Destination(), s.Peer)
	}
	s.Sent, s.Retransmit = true, again
	c.entry.step(s)
}

// received takes a message of the peer into the call's ladder.
func (c *phonecall) received(msg sip.Message, again bool) {
	s := c.step(msg)
	s.Peer = cmp.Or(msg.Source(), s.Peer)
	s.Retransmit = again
	c.entry.step(s)
}

// acknowledged adds the ACK to a refusal of our INVITE, which sipgo's transaction sends (RFC 3261, 17.1.1.3).
func (c *phonecall) acknowledged(refusal *sip.Response) {
	if refusal.StatusCode < 300 {
		return
	}
	s := c.step(refusal)
	s.Sent, s.Method, s.Status, s.Reason, s.Body = true, string(sip.ACK), 0, "", ""
	c.entry.step(s)
}

// replied adds a request of the peer that the call itself has not answered, and the answer.
func (c *phonecall) replied(req *sip.Request, status int) {
	c.received(req, false)
	s := c.step(req)
	s.Sent, s.Status, s.Reason, s.Body = true, status, reasons[status], ""
	c.entry.step(s)
}

// cancelled adds the CANCEL of an INVITE, and what sipgo's transaction answers to both.
func (c *phonecall) cancelled(cancel *sip.Request) {
	c.replied(cancel, sip.StatusOK)
	s := c.step(cancel)
	s.Sent, s.Method = true, string(sip.INVITE)
	s.Status, s.Reason = sip.StatusRequestTerminated, reasons[sip.StatusRequestTerminated]
	c.entry.step(s)
}

func (c *phonecall) step(msg sip.Message) ladder.Event {
	s := stepOf(msg)
	s.Transport, s.Peer = c.flow.tls, c.flow.address.String()
	return s
}

// stepOf is what a ladder shows of a message: nothing that is secret, and of the body a summary.
func stepOf(msg sip.Message) ladder.Event {
	var s ladder.Event
	switch m := msg.(type) {
	case *sip.Request:
		s.Method = string(m.Method)
	case *sip.Response:
		s.Status, s.Reason = m.StatusCode, m.Reason
	}
	if cseq := msg.CSeq(); cseq != nil {
		s.Method, s.CSeq = string(cseq.MethodName), cseq.SeqNo
	}
	if via := msg.Via(); via != nil {
		s.Branch = via.Params.GetOr("branch", "")
	}
	kind := ""
	if types := msg.GetHeaders("Content-Type"); len(types) > 0 {
		kind = types[0].Value()
	}
	s.Body = ladder.Describe(kind, msg.Body())
	return s
}

// security says how a connection is encrypted.
func security(s tls.ConnectionState) string {
	if s.Version == 0 {
		return "TLS"
	}
	return tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite)
}

// verified says how a server's certificate was checked, and what came of it: without success there is no connection.
func verified(p profile) string {
	switch p.verify {
	case trunk.VerifyNone:
		return "certificate not verified (none)"
	case trunk.VerifyChain:
		return "certificate verified (chain): a root that we trust; its name was not checked"
	default:
		return "certificate verified (full): a root that we trust, and the name " + p.host
	}
}
