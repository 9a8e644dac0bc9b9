package leg

import (
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/attempt"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// inviteReplies summarizes the responses to the first INVITE of an outbound leg.
type inviteReplies struct {
	any        chan struct{} // closed by the first response, 100 included
	rang       bool          // a response beyond 100 has come
	authorized bool          // the INVITE had credentials
	code       int           // of the final response to the last INVITE; 0: none yet
	phrase     string
	retryAfter time.Duration
	contacts   []message.Contact // of a 3xx
}

// sent is called for each INVITE.
func (r *inviteReplies) sent(authorized bool) {
	r.authorized, r.code, r.phrase, r.retryAfter, r.contacts = authorized, 0, "", 0, nil
}

// add is called for each response.
func (r *inviteReplies) add(res *sip.Response) {
	select {
	case <-r.any:
	default:
		close(r.any)
	}
	if res.IsProvisional() {
		r.rang = r.rang || res.StatusCode > sip.StatusTrying
		return
	}
	r.code, r.phrase = res.StatusCode, message.Printable(res.Reason)
	r.retryAfter = message.ReadRetryAfter(res)
	if res.IsRedirection() {
		r.contacts = message.ReadContacts(res)
	}
}

// outcome returns the result of an ended leg, for failover.
func (r *inviteReplies) outcome(why dialog.Ending) failover.Outcome {
	lost := r.code == 0 && why.Status == sip.StatusServiceUnavailable // see unsent and follow: the INVITE was not answered
	return failover.Outcome{Code: r.code, Connected: !lost, Rang: r.rang, Authenticated: r.authorized}
}

// evidence returns the attempt's evidence of its server's health: alive after a response, unless the response reports a
// fault of the server; a miss without one; nil when we gave up before the first response.
func (r *inviteReplies) evidence(o failover.Outcome, why dialog.Ending) *health.Evidence {
	if o.Code == 0 && !o.Rang && givenUp(why.Cause) {
		return nil
	}
	trigger, failed := failover.Classify(o)
	e := &health.Evidence{At: attempt.Now(), Alive: !failed || trigger == failover.AuthFailure, Reason: message.StatusLine(r.code, r.phrase)}
	if r.code == 0 {
		e.Reason = why.Reason
	}
	if !e.Alive {
		e.RetryAfter = r.retryAfter
	}
	return e
}

// givenUp reports whether we have given up, and not because the server was silent.
func givenUp(cause dialog.Cause) bool {
	return cause == dialog.Cancelled || cause == dialog.LocalHangup || cause == dialog.NoAnswer
}

// unconfirmed is the text of a record for a BYE of ours without a response.
const unconfirmed = "our BYE was not confirmed: the other side may still be in the call"

// normalClearing is the Q.850 cause in the peer's Reason that says nothing.
const normalClearing = "cause=16"

// callEnd returns the end of the leg's record, and the leg's evidence of the server's health.
func (l *Leg) callEnd(why dialog.Ending) (calllog.End, *health.Evidence) {
	end := calllog.End{
		SIPCode: why.Status, Status: message.StatusLine(why.Status, message.Reason(why.Status)), Cause: string(why.Cause), Reason: why.Reason,
		Technical: technical(why.Cause),
	}
	for _, c := range l.replies.contacts {
		end.Reason = strings.TrimPrefix(end.Reason+"; to "+message.Printable(c.URI), "; ")
	}
	if why.Release != "" && !strings.Contains(why.Release, normalClearing) {
		end.Reason = strings.TrimPrefix(end.Reason+"; "+why.Release, "; ")
	}
	if why.Unconfirmed {
		end.Reason = strings.TrimPrefix(end.Reason+"; "+unconfirmed, "; ")
	}
	if l.log.Inbound() {
		return end, nil
	}
	end.SIPCode, end.Status = l.replies.code, message.StatusLine(l.replies.code, l.replies.phrase)
	if end.SIPCode == 0 && l.machine.LastStatus() != 0 { // no final response has come
		end.SIPCode = l.machine.LastStatus()
		end.Status = message.StatusLine(end.SIPCode, message.Reason(end.SIPCode))
	}
	if _, failed := failover.Classify(l.outcome); failed && (l.replies.code != 0 || !givenUp(why.Cause)) {
		end.Technical = true
	}
	if l.route.Foreign { // it says nothing about the trunk's servers
		end.Technical = false
		return end, nil
	}
	return end, l.replies.evidence(l.outcome, why)
}

// technical reports whether a cause is a fault of the trunk and not a person's decision.
func technical(cause dialog.Cause) bool {
	switch cause {
	case dialog.Unreachable, dialog.AuthFailed, dialog.NotAcceptable, dialog.NoACK, dialog.Cause(call.CauseMediaTimeout):
		return true
	default:
		return false
	}
}
