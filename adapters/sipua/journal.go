package sipua

import (
	"context"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// journalTimeout bounds each thing that the journal is told.
const journalTimeout = 10 * time.Second

// entry is one attempt at a call: its ladder, and its record in the journal. The journal hears of it in a goroutine of
// the entry's own, in order, so that no database holds up a call. Whoever runs the attempt uses it: Dial before there is
// a call, then the call's mailbox.
type entry struct {
	ua     *UA
	steps  ladder.Recorder
	record trunk.CallRecord
	begun  bool
	told   mailbox // what the journal is told
}

// newEntry makes the entry of an attempt that starts now. Its record's ID stays as it is.
func (u *UA) newEntry(r trunk.CallRecord) *entry {
	r.ID, r.StartedAt = u.ids.New(), now()
	return &entry{ua: u, record: r}
}

func now() time.Time { return callwright.SystemClock{}.Now() }

// begin opens the record. The user agent does not close before it has ended.
func (e *entry) begin() {
	journal := e.ua.config.Journal
	if journal == nil {
		return
	}
	e.begun = true
	e.ua.hold()
	r := e.record
	e.tell(func(ctx context.Context) { journal.Begin(ctx, r) })
}

// answered says that both sides have.
func (e *entry) answered() {
	r, at := e.record, now()
	e.record.AnsweredAt = &at
	if e.begun {
		e.tell(func(ctx context.Context) { e.ua.config.Journal.Answered(ctx, r, at) })
	}
}

// end closes the record. It is called once.
func (e *entry) end(end trunk.CallEnd, evidence *health.Evidence) {
	at := now()
	end.AnsweredAt, end.EndedAt = e.record.AnsweredAt, &at
	detail := end.Cause
	if end.Reason != "" {
		detail += ": " + end.Reason
	}
	e.note(ladder.NoteEnded, detail)
	if !e.begun {
		return
	}
	r, steps := e.record, e.steps.Events()
	r.CallEnd = end
	e.tell(func(ctx context.Context) { e.ua.config.Journal.End(ctx, r, evidence, steps) })
	e.told.post(e.ua.release)
}

func (e *entry) tell(what func(context.Context)) {
	e.told.post(func() {
		ctx, cancel := context.WithTimeout(context.Background(), journalTimeout)
		defer cancel()
		what(ctx)
	})
}

// note takes what happens between messages into the ladder.
func (e *entry) note(note, detail string) { e.step(ladder.Event{Note: note, Detail: detail}) }

func (e *entry) step(s ladder.Event) {
	s.At, s.Attempt = now(), e.record.Attempt
	e.steps.Add(s)
}

// never ends an attempt in which no INVITE was sent. unreached: because the server could not be reached.
func (e *entry) never(why *call.Ending, unreached bool) {
	var evidence *health.Evidence
	if unreached {
		evidence = &health.Evidence{At: now(), Reason: why.Reason}
	}
	e.begin()
	e.end(trunk.CallEnd{Cause: string(why.Cause), Reason: why.Reason, Technical: unreached}, evidence)
}

// arrived writes a call down that has come in, now that it is known whose it is.
func (c *phonecall) arrived(invite *sip.Request) {
	from := "the caller was not asked for a certificate"
	if c.flow.profile.host != "" {
		from = "the connection that we have registered on, " + verified(c.flow.profile)
	}
	c.entry.step(ladder.Event{
		Note: ladder.NoteConnected, Transport: c.flow.tls, Peer: c.flow.address.String(),
		Detail: security(c.flow.stack.state(c.flow.address.String())) + "; " + from,
	})
	c.received(invite, false)
	c.entry.begin()
}

// inboundEntry is the record of a call that comes in over a trunk.
func (u *UA) inboundEntry(req *sip.Request, route trunk.Route, to callwright.PhoneNumber, f flow) *entry {
	return u.newEntry(trunk.CallRecord{
		Org: route.Org, TrunkID: route.TrunkID, Number: to, Direction: trunk.Inbound, From: callerOf(req), To: to.String(),
		SIPCallID: req.CallID().Value(), Attempt: 1, Source: f.address.Addr().Unmap().String(),
	})
}

// turnedAway writes a call down that is refused although it is known whose it would have been.
func (u *UA) turnedAway(f flow, req *sip.Request, route trunk.Route, to callwright.PhoneNumber, status int) {
	if route.TrunkID == "" {
		return
	}
	e := u.inboundEntry(req, route, to, f)
	invite := stepOf(req)
	invite.Transport, invite.Peer = f.tls, f.address.String()
	e.step(invite)
	answer := invite
	answer.Sent, answer.Status, answer.Reason, answer.Body = true, status, reasons[status], ""
	e.step(answer)
	why := call.Ending{Cause: call.CauseRejected, Reason: "the trunk does not admit the caller"}
	if status == sip.StatusServiceUnavailable {
		why = call.Ending{Cause: call.CauseOverload, Reason: "draining, or too many calls"}
	}
	e.begin()
	e.end(trunk.CallEnd{
		SIPCode: status, Status: statusLine(status, reasons[status]), Cause: string(why.Cause), Reason: why.Reason,
	}, nil)
}
