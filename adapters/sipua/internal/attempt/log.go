// Package attempt logs attempts at calls: each gets a ladder and a record, and an observer receives its progress.
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

// observerTimeout bounds each call of the observer.
const observerTimeout = 10 * time.Second

// Logger makes the logs of a user agent's attempts.
type Logger struct {
	Observer calllog.AttemptObserver // nil: none
	Opened   func()                  // is called when the observer is going to hear of an attempt
	Closed   func()                  // is called when the observer has heard of its end
	IDs      callwright.IDs
}

// Log is the log of one attempt. It calls the observer in a new goroutine, in order, so that no database delays a call. One
// goroutine at a time uses a log: Dial before there is a dialog, then the dialog's mailbox.
type Log struct {
	logger *Logger
	clock  callwright.Clock // does not step
	record calllog.Record
	ladder ladder.Recorder
	begun  bool
	told   mailbox.Mailbox // runs the observer
}

// New returns the log of an attempt that starts now. observe, which may be nil, hears of every step.
func (l *Logger) New(r calllog.Record, observe func(ladder.Event)) *Log {
	clock := callwright.SteadyClock(callwright.SystemClock{})
	r.ID, r.StartedAt = l.IDs.New(), clock.Now()
	log := &Log{logger: l, clock: clock, record: r}
	log.ladder.Observe = observe
	return log
}

// Now returns the time as records have it.
func Now() time.Time { return callwright.SystemClock{}.Now() }

// ID returns the record's id.
func (l *Log) ID() string { return l.record.ID }

// Inbound reports whether the call comes in.
func (l *Log) Inbound() bool { return l.record.Direction == trunk.Inbound }

// Connected sets the address that the attempt goes to.
func (l *Log) Connected(source string) { l.record.Source = source }

// Step adds an event to the ladder.
func (l *Log) Step(e ladder.Event) {
	e.At, e.Attempt = l.clock.Now(), l.record.Attempt
	l.ladder.Add(e)
}

// Note adds an event between messages to the ladder.
func (l *Log) Note(note, detail string) { l.Step(ladder.Event{Note: note, Detail: detail}) }

// Begin opens the record.
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

// Answered records that both sides have answered.
func (l *Log) Answered() {
	r, at := l.record, l.clock.Now()
	l.record.AnsweredAt = &at
	if l.begun {
		l.notifyObserver(func(ctx context.Context) { l.logger.Observer.Answered(ctx, r, at) })
	}
}

// Finish closes the record. It is called once.
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

// Unsent logs an attempt in which no INVITE was sent. unreached says that the server could not be reached.
func (l *Log) Unsent(why *call.HangupReason, unreached bool) {
	var evidence *health.Evidence
	if unreached {
		evidence = &health.Evidence{At: Now(), Reason: why.Reason}
	}
	l.Begin()
	l.Finish(calllog.End{Cause: string(why.Cause), Reason: why.Reason, Technical: unreached}, evidence)
}

// Refused logs a call that is refused before it becomes a dialog, although its trunk is known.
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
