package sipua

import (
	"fmt"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// heard is what the peer has said to the first INVITE of a call that we make.
type heard struct {
	any        chan struct{} // closed by the first answer, 100 too
	rang       bool          // something beyond 100 has come
	authorized bool          // the INVITE had credentials
	code       int           // of the last final answer; 0: none to the INVITE that was sent last
	phrase     string
	retryAfter time.Duration
}

// asked is called for each INVITE.
func (h *heard) asked(authorized bool) {
	h.authorized, h.code, h.phrase, h.retryAfter = authorized, 0, "", 0
}

// said is called for each answer.
func (h *heard) said(res *sip.Response) {
	select {
	case <-h.any:
	default:
		close(h.any)
	}
	if res.IsProvisional() {
		h.rang = h.rang || res.StatusCode > sip.StatusTrying
		return
	}
	h.code, h.phrase = res.StatusCode, printable(res.Reason)
	h.retryAfter = readRetryAfter(res)
}

// outcome is how failover sees a call that has ended.
func (h *heard) outcome(why dialog.Ending) failover.Outcome {
	lost := h.code == 0 && why.Status == sip.StatusServiceUnavailable // see unsent and follow: nothing got through
	return failover.Outcome{Code: h.code, Connected: !lost, Rang: h.rang, Authenticated: h.authorized}
}

// evidence is what the attempt says of its server: alive for a word of it, unless that is that it is out of order; a miss
// for silence; nothing when we gave it up before it spoke.
func (h *heard) evidence(o failover.Outcome, why dialog.Ending) *health.Evidence {
	if o.Code == 0 && !o.Rang && givenUp(why.Cause) {
		return nil
	}
	trigger, failed := failover.Classify(o)
	e := &health.Evidence{At: now(), Alive: !failed || trigger == failover.AuthFailure, Reason: statusLine(h.code, h.phrase)}
	if h.code == 0 {
		e.Reason = why.Reason
	}
	if !e.Alive {
		e.RetryAfter = h.retryAfter
	}
	return e
}

// givenUp says whether it was us who gave up, and not for the server's silence.
func givenUp(cause dialog.Cause) bool {
	return cause == dialog.Cancelled || cause == dialog.LocalHangup || cause == dialog.NoAnswer
}

// callEnd is how a call's record ends, and what the call says of the server.
func (c *phonecall) callEnd(why dialog.Ending) (trunk.CallEnd, *health.Evidence) {
	end := trunk.CallEnd{
		SIPCode: why.Status, Status: statusLine(why.Status, reasons[why.Status]), Cause: string(why.Cause), Reason: why.Reason,
		Technical: technical(why.Cause),
	}
	if c.entry.record.Direction == trunk.Inbound {
		return end, nil
	}
	end.SIPCode, end.Status = c.heard.code, statusLine(c.heard.code, c.heard.phrase)
	if _, failed := failover.Classify(c.outcome); failed && (c.heard.code != 0 || !givenUp(why.Cause)) {
		end.Technical = true
	}
	return end, c.heard.evidence(c.outcome, why)
}

// technical says whether a cause is the trunk's fault and not a person's wish.
func technical(cause dialog.Cause) bool {
	switch cause {
	case dialog.Unreachable, dialog.AuthFailed, dialog.NotAcceptable, dialog.NoACK, dialog.Cause(call.CauseMediaTimeout):
		return true
	default:
		return false
	}
}

// statusLine is an answer's code and phrase; empty for none.
func statusLine(code int, phrase string) string {
	if code == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, phrase))
}
