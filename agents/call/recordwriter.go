package call

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// recordWriter writes the events of a call into the store as they happen: the lines of the transcript, the log of each turn, and
// the notices of its webhook. A crash loses at most the write under way. The conversation never waits for the database.
type recordWriter struct {
	store    Transcripts
	announce func(ctx context.Context, c Call, n Notice) error
	observe  func(Observation)
	clock    callwright.Clock // the call's monotonic clock
	logger   *slog.Logger

	call Call
	wake chan struct{} // holds a token when writes wait, or after the last one
	done chan struct{}

	mu        sync.Mutex // the line and the conversation's goroutines write concurrently
	closed    bool
	writes    []write        // waiting writes, up to writesWaiting
	lines     int            // the number of the last line
	notices   int            // of the last notice
	variables map[string]any // variables set by the logs
	logged    int            // bytes of logs
	full      bool           // maxLogged is reached
	now       Call           // the current record, for observations
	moved     peerTransfer
}

// write is one write to the store.
type write struct {
	what   string // for our log
	number int
	write  func(ctx context.Context) error
}

// writesWaiting bounds the writes that wait for the database. Further ones are lost.
const writesWaiting = 1000

// maxLogged bounds the logs of a call, in bytes: readers of a record read all of them.
const maxLogged = 16 << 20

// A write is tried for writePatience, with writePause between the attempts. After a lost write the next ones are tried
// once each, until one succeeds.
const (
	writePatience = 30 * time.Second
	writePause    = 200 * time.Millisecond
)

// writeRecord starts a record writer, which must be closed.
func (s *Service) writeRecord(ctx context.Context, c Call, clock callwright.Clock) *recordWriter {
	b := &recordWriter{
		store: s.cfg.Store, announce: s.announce, observe: s.observed.add, clock: clock, logger: s.cfg.Logger,
		call: c, now: c, wake: make(chan struct{}, 1), done: make(chan struct{}),
		notices: firstNotice, variables: map[string]any{},
	}
	go b.write(context.WithoutCancel(ctx))
	return b
}

// Entry writes a spoken line: see conversation.Observer.
func (b *recordWriter) Entry(e conversation.Entry) {
	line := Entry{
		Speaker: SpeakerAssistant, Text: e.Text, Start: e.Start, End: e.End, Interrupted: e.Interrupted, Latency: e.Latency,
	}
	switch {
	case e.Role == conversation.RoleCaller && e.Digits:
		line.Speaker, line.Text = SpeakerUser, "pressed "+e.Text
	case e.Role == conversation.RoleCaller:
		line.Speaker = SpeakerUser
	case e.Digits:
		line.Speaker, line.Text = SpeakerAction, "pressed "+e.Text
	default:
		b.notice(EventsLatency, EventPerformance, latencyText(e.Latency))
	}
	b.line(line)
}

// line numbers a line of the transcript and writes it.
func (b *recordWriter) line(line Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines++
	line.Text = writable(line.Text)
	line.Seq, line.CreatedAt = b.lines, b.clock.Now()
	b.append(write{"line of a transcript", line.Seq, func(ctx context.Context) error {
		return b.store.Append(ctx, b.call.Org, b.call.ID, line)
	}})
	b.observe(Observation{What: ObservedLine, At: line.CreatedAt, Call: b.now, Line: line})
}

// turn writes the log of a turn of the conversation, which the graph leads; nil: a task leads it.
func (b *recordWriter) turn(l pathway.Log, g *graph.Graph) {
	for _, e := range l.Entries {
		if e.Kind == pathway.LogRequest && e.Request != nil {
			b.request(category(e, g), *e.Request)
		}
	}
	b.log(l)
}

// category returns the category of a request: a webhook node's, or a tool's.
func category(e pathway.LogEntry, g *graph.Graph) EventCategory {
	if g == nil {
		return EventsTool
	}
	if n := g.Nodes[e.Node]; n != nil && n.Type == graph.NodeWebhook && n.Name == e.Request.Name {
		return EventsWebhook
	}
	return EventsTool
}

// log writes the log of a turn, and stores its variables.
func (b *recordWriter) log(l pathway.Log) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l = writableLog(l)
	remember(b.variables, l)
	if b.full {
		return
	}
	b.logged += size(l)
	if b.full = b.logged > maxLogged; b.full {
		l.Entries = []pathway.LogEntry{{
			Kind: pathway.LogError, Text: "the log of this call is as long as it may be", At: b.clock.Now(),
		}}
	}
	b.append(write{"log of a turn", l.Turn, func(ctx context.Context) error {
		return b.store.AppendLog(ctx, b.call.Org, b.call.ID, l)
	}})
}

// size returns the approximate size of a log in bytes.
func size(l pathway.Log) int {
	raw, err := json.Marshal(l) //nolint:musttag // only its length matters
	if err != nil {
		return maxLogged
	}
	return len(raw)
}

// request notifies the webhook of a request.
func (b *recordWriter) request(category EventCategory, l request.Log) {
	b.notice(category, EventInfo, requestText(l))
}

// notice numbers a notice and writes it, if the call wants its category.
func (b *recordWriter) notice(category EventCategory, level EventLevel, message string) {
	if !b.call.wants(category) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notices++
	n := Notice{
		Seq: b.notices, Category: category, Level: level, Message: writable(message), CreatedAt: b.clock.Now(),
	}
	b.append(write{"notice", n.Seq, func(ctx context.Context) error { return b.announce(ctx, b.call, n) }})
}

// append queues a write, or logs that it is lost.
func (b *recordWriter) append(p write) {
	if b.closed {
		return
	}
	if len(b.writes) >= writesWaiting {
		b.logger.Error("too much waits for the database: a "+p.what+" is lost", "call_id", b.call.ID, "number", p.number)
		return
	}
	b.writes = append(b.writes, p)
	b.signal()
}

// signal wakes the goroutine that writes.
func (b *recordWriter) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next waits for a write. It returns false after the last one.
func (b *recordWriter) next() (p write, ok bool) {
	for {
		b.mu.Lock()
		if len(b.writes) > 0 {
			p, b.writes[0] = b.writes[0], write{}
			if b.writes = b.writes[1:]; len(b.writes) == 0 {
				b.writes = nil
			}
			b.mu.Unlock()
			return p, true
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return write{}, false
		}
		<-b.wake
	}
}

// write performs writes until the last one.
func (b *recordWriter) write(ctx context.Context) {
	defer close(b.done)
	patience := writePatience
	for p, ok := b.next(); ok; p, ok = b.next() {
		err := p.try(ctx, patience)
		patience = writePatience
		if err != nil {
			patience = 0
			b.logger.ErrorContext(
				ctx, "a "+p.what+" is lost", "call_id", b.call.ID, "number", p.number, "error", err)
		}
	}
}

// try performs a write, with retries until patience is over.
func (p write) try(ctx context.Context, patience time.Duration) error {
	for until := time.Now().Add(patience); ; pause(ctx, writePause) {
		try, cancel := context.WithTimeout(ctx, storePatience)
		err := p.write(try)
		cancel()
		if err == nil || !time.Now().Before(until) {
			return err
		}
	}
}

// changed stores the current record for observations.
func (b *recordWriter) changed(c Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.moved.record(c)
}

// close waits until everything is written. It may be called twice.
func (b *recordWriter) close() {
	b.mu.Lock()
	b.closed = true
	b.signal()
	b.mu.Unlock()
	<-b.done
}

// found returns the given variables with the variables set by the logs.
func (b *recordWriter) found(known map[string]any) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return merged(known, b.variables)
}

// remember adds the variables that a turn has set.
func remember(known map[string]any, turn pathway.Log) {
	for _, e := range turn.Entries {
		maps.Copy(known, e.Variables)
	}
}

// merged returns the variables of both, with the second's before the first's.
func merged(known, found map[string]any) map[string]any {
	all := make(map[string]any, len(known)+len(found))
	maps.Copy(all, known)
	maps.Copy(all, found)
	return all
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
