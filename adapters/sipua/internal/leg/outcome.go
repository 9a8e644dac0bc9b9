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

// inviteReplies summarizes the responses to the first INVITE of an outbound leg, including its repetition with credentials.
type inviteReplies struct {
	any        chan struct{} // closed by the first response, even a 100
	rang       bool          // a provisional response above 100 has arrived
	authorized bool          // the last INVITE contained credentials
	code       int           // final response to the last INVITE; 0 without one
	phrase     string
	retryAfter time.Duration
	contacts   []message.Contact // of a 3xx response
}

// sent resets the final response when an INVITE is sent. authorized reports whether it contains credentials.
func (r *inviteReplies) sent(authorized bool) {
	r.authorized, r.code, r.phrase, r.retryAfter, r.contacts = authorized, 0, "", 0, nil
}

// add records a response.
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

// outcome returns the result of an ended leg, which decides about failover.
func (r *inviteReplies) outcome(why dialog.Ending) failover.Outcome {
	lost := r.code == 0 && why.Status == sip.StatusServiceUnavailable // the 503 of unsent or follow: the server sent no final response
	return failover.Outcome{Code: r.code, Connected: !lost, Rang: r.rang, Authenticated: r.authorized}
}

// evidence returns the attempt's evidence of the server's health, or nil if we hung up before the server had sent any response but 100. The
// server is alive if it responded, unless the response reports a fault of the server.
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

// givenUp reports whether our side ended the attempt, regardless of the server.
func givenUp(cause dialog.Cause) bool {
	return cause == dialog.Cancelled || cause == dialog.LocalHangup || cause == dialog.NoAnswer
}

// unconfirmed is the text in a call record if the peer did not answer our BYE.
const unconfirmed = "our BYE was not confirmed: the other side may still be in the call"

// normalClearing is the Q.850 cause of an ordinary hang-up, which records omit.
const normalClearing = "cause=16"

// callEnd returns the end of the leg's call record, and the evidence of the server's health. The evidence is nil for an inbound leg, for a
// server that is not the trunk's, and if we hung up before the server had sent any response but 100.
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
	if end.SIPCode == 0 && l.machine.LastStatus() != 0 { // no final response has arrived
		end.SIPCode = l.machine.LastStatus()
		end.Status = message.StatusLine(end.SIPCode, message.Reason(end.SIPCode))
	}
	if _, failed := failover.Classify(l.outcome); failed && (l.replies.code != 0 || !givenUp(why.Cause)) {
		end.Technical = true
	}
	if l.route.Foreign { // the server is not one of the trunk's
		end.Technical = false
		return end, nil
	}
	return end, l.replies.evidence(l.outcome, why)
}

// technical reports whether a cause is a technical fault and not the decision of a person.
func technical(cause dialog.Cause) bool {
	switch cause {
	case dialog.Unreachable, dialog.AuthFailed, dialog.NotAcceptable, dialog.NoACK, dialog.Cause(call.CauseMediaTimeout):
		return true
	default:
		return false
	}
}
