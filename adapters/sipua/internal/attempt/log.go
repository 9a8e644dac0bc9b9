// Package attempt logs call attempts. Each attempt has a ladder and a record, and an observer receives its progress.
package attempt

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/mailbox"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// observerTimeout is the time limit of each call of an observer's method.
const observerTimeout = 10 * time.Second

// Logger creates the logs of a user agent's attempts.
type Logger struct {
	Observer calllog.AttemptObserver // may be nil
	Opened   func()                  // called before the observer receives the first event of an attempt
	Closed   func()                  // called after the observer has received the end of the attempt
	IDs      callwright.IDs
}

// Log is the log of one attempt. It calls the observer in order in another goroutine, so that a slow database delays no call. Only one
// goroutine may use a log at a time: first the one that dials, then the dialog's mailbox.
type Log struct {
	logger *Logger
	clock  callwright.Clock // is not affected by changes of the system clock
	record calllog.Record
	ladder ladder.Recorder
	begun  bool
	told   mailbox.Mailbox // calls the observer
}

// New returns the log of an attempt that starts now. observe receives every step, and may be nil.
func (l *Logger) New(r calllog.Record, observe func(ladder.Event)) *Log {
	clock := callwright.SteadyClock(callwright.SystemClock{})
	r.ID, r.StartedAt = l.IDs.New(), clock.Now()
	log := &Log{logger: l, clock: clock, record: r}
	log.ladder.Observe = observe
	return log
}

// Now returns the time in the form that records store.
func Now() time.Time { return callwright.SystemClock{}.Now() }

// ID returns the record's id.
func (l *Log) ID() string { return l.record.ID }

// Inbound reports whether the attempt is an inbound call.
func (l *Log) Inbound() bool { return l.record.Direction == trunk.Inbound }

// Connected stores the address of the server as the source of the record.
func (l *Log) Connected(source string) { l.record.Source = source }

// Step adds an event to the ladder, and sets its time and the number of its attempt.
func (l *Log) Step(e ladder.Event) {
	e.At, e.Attempt = l.clock.Now(), l.record.Attempt
	l.ladder.Add(e)
}

// Note adds an event to the ladder that is not a SIP message.
func (l *Log) Note(note, detail string) { l.Step(ladder.Event{Note: note, Detail: detail}) }

// Begin reports the beginning of the attempt to the observer. Without an observer it does nothing.
func (l *Log) Begin() {
	observer := l.logger.Observer
	if observer == nil {
		return
	}
	l.begun = true
	l.logger.Opened()
	r := l.record
	l.notifyObserver(func(ctx context.Context) { observer.Begin(ctx, r) })
}

// Answered stores the current time as the time of the answer, and reports it to the observer if Begin was called.
func (l *Log) Answered() {
	r, at := l.record, l.clock.Now()
	l.record.AnsweredAt = &at
	if l.begun {
		l.notifyObserver(func(ctx context.Context) { l.logger.Observer.Answered(ctx, r, at) })
	}
}

// Finish adds the end of the attempt to the ladder, and reports it to the observer if Begin was called. It must be called only once.
func (l *Log) Finish(end calllog.End, evidence *health.Evidence) {
	at := l.clock.Now()
	end.AnsweredAt, end.EndedAt = l.record.AnsweredAt, &at
	detail := end.Cause
	if end.Reason != "" {
		detail += ": " + end.Reason
	}
	l.Note(ladder.NoteEnded, detail)
	if !l.begun {
		return
	}
	r, steps := l.record, l.ladder.Events()
	r.End = end
	l.notifyObserver(func(ctx context.Context) { l.logger.Observer.Finish(ctx, r, evidence, steps) })
	l.told.Post(l.logger.Closed)
}

func (l *Log) notifyObserver(what func(context.Context)) {
	l.told.Post(func() {
		ctx, cancel := context.WithTimeout(context.Background(), observerTimeout)
		defer cancel()
		what(ctx)
	})
}

// Unsent begins and finishes the log of an attempt that sent no INVITE. If unreached is set, the server could not be reached, and the
// observer receives that as evidence of the server's health.
func (l *Log) Unsent(why *call.HangupReason, unreached bool) {
	var evidence *health.Evidence
	if unreached {
		evidence = &health.Evidence{At: Now(), Reason: why.Reason}
	}
	l.Begin()
	l.Finish(calllog.End{Cause: string(why.Cause), Reason: why.Reason, Technical: unreached}, evidence)
}

// Refused begins and finishes the log of a call that was refused before it had a dialog, but whose trunk is known.
func (l *Log) Refused(invite ladder.Event, status int, why call.HangupReason) {
	l.Step(invite)
	response := invite
	response.Sent, response.Status, response.Reason, response.Body = true, status, message.Reason(status), ""
	l.Step(response)
	l.Begin()
	l.Finish(calllog.End{
		SIPCode: status, Status: message.StatusLine(status, message.Reason(status)), Cause: string(why.Cause), Reason: why.Reason,
	}, nil)
}
