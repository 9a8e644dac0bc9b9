package call

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// recordWriter stores the events of a call as they happen: the lines of the transcript, the log of each turn, and the notices for its
// webhook. While the database keeps up, a crash loses only the write in progress. The conversation never waits for the database.
type recordWriter struct {
	store    Transcripts
	announce func(ctx context.Context, c Call, n Notice) error
	observed *observations
	clock    callwright.Clock // monotonic clock of the call
	logger   *slog.Logger

	call Call
	wake chan struct{} // contains a token if writes wait or the writer was closed
	done chan struct{}

	mu        sync.Mutex // the conversation's goroutines and the line write concurrently
	closed    bool
	writes    []write           // waiting writes, at most writesWaiting
	lines     int               // number of the last line
	spoken    *Entry            // line that the agent is speaking, which a queued write will store; nil if none is queued
	summary   summarizer        // of the lines
	notices   int               // number of the last notice
	variables map[string]any    // variables that the logs have set
	logged    int               // bytes of logs so far
	full      bool              // whether maxLogged is exceeded
	withdrawn pathway.Withdrawn // early answers that no log contains yet
	turns     int               // number of the last turn
	calls     ModelCalls
	uses      []llm.Use // models that have answered so far
	now       Call      // current record, for observations
	moved     peerTransfer
}

// write is one queued write to the store.
type write struct {
	what   string // description for the server's log
	number int
	write  func(ctx context.Context) error
}

// writesWaiting bounds the writes that wait for the database. Further writes are lost.
const writesWaiting = 1000

// maxLogged bounds the logs of a call in bytes, because readers of a record load all of them.
const maxLogged = 16 << 20

// A write is retried for writePatience, with writePause between the attempts. After a lost write, each following write is tried only once,
// until a write succeeds.
const (
	writePatience = 30 * time.Second
	writePause    = 200 * time.Millisecond
)

// writeRecord starts a record writer for a call. The caller must close it.
func (s *Service) writeRecord(ctx context.Context, c Call, clock callwright.Clock) *recordWriter {
	b := &recordWriter{
		store: s.cfg.Store, announce: s.announce, observed: s.observed, clock: clock, logger: s.cfg.Logger,
		call: c, now: c, wake: make(chan struct{}, 1), done: make(chan struct{}),
		notices: firstNotice, variables: map[string]any{},
	}
	go b.write(context.WithoutCancel(ctx))
	return b
}

// Entry implements conversation.Observer: it writes an entry as a line of the transcript. It also sends the latency of an agent's words as
// a notice.
func (b *recordWriter) Entry(e conversation.Entry) {
	line := Entry{
		Speaker: SpeakerAssistant, Text: e.Text, Start: e.Start, End: e.End, Interrupted: e.Interrupted, Latency: e.Latency,
		Holds: e.Holds, Turn: e.Turn, Waited: e.Waited, WaitedFor: e.WaitedFor, Expected: e.Expected, Begun: e.Begun,
		Unrecognized: e.Unrecognized,
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

// Spoken implements conversation.SpeechObserver: it stores the words that the agent is speaking, so that a crash does not lose them. While a
// write of such words waits, newer words replace them.
func (b *recordWriter) Spoken(e conversation.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waits := b.spoken != nil
	b.spoken = &Entry{
		Speaker: SpeakerAssistant, Text: writable(e.Text), Turn: e.Turn, Start: e.Start, End: e.End, CreatedAt: b.clock.Now(),
	}
	if waits {
		return
	}
	var line *Entry
	b.append(write{"part of a spoken line", b.lines + 1, func(ctx context.Context) error {
		if line == nil {
			b.mu.Lock()
			line, b.spoken = b.spoken, nil
			b.mu.Unlock()
		}
		return b.store.Speak(ctx, b.call.Org, b.call.ID, *line)
	}})
}

// line numbers a line of the transcript, queues its write, and passes it to the observer.
func (b *recordWriter) line(line Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines++
	line.Text = writable(line.Text)
	line.Seq, line.CreatedAt = b.lines, b.clock.Now()
	b.append(write{"line of a transcript", line.Seq, func(ctx context.Context) error {
		return b.store.Append(ctx, b.call.Org, b.call.ID, line)
	}})
	b.summary.add(line)
	b.observed.partials.replace(b.call.ID, line)
	b.observed.add(Observation{What: ObservedLine, At: line.CreatedAt, Call: b.now, Line: line})
}

// turn writes the log of a turn, and notifies the webhook of the turn's requests. g is the graph that leads the conversation, or nil if a
// task leads it. The turns of a task have a log only if a model was asked, or if something else happened besides the answer. A withdrawn turn has none: the log of the
// next turn counts it.
func (b *recordWriter) turn(l pathway.Log, g *graph.Graph) {
	b.mu.Lock()
	b.withdrawn = b.withdrawn.Add(l.Withdrawn)
	b.calls.All += l.ModelCalls + l.Withdrawn.ModelCalls
	b.calls.Withdrawn += l.Withdrawn.ModelCalls
	b.uses = llm.AddUses(llm.AddUses(b.uses, l.Models...), l.Withdrawn.Models...)
	logs := l.Turn > 0 && (g != nil || len(l.Entries) > 0 || len(l.Models) > 0 || b.withdrawn.Answers > 0)
	if b.turns = max(b.turns, l.Turn); logs {
		l.Withdrawn, b.withdrawn = b.withdrawn, pathway.Withdrawn{}
	}
	b.mu.Unlock()
	if !logs {
		return
	}
	for _, e := range l.Entries {
		if e.Kind == pathway.LogRequest && e.Request != nil {
			b.request(category(e, g), *e.Request)
		}
	}
	b.log(l)
}

// category returns EventsWebhook for the request of a webhook node of the graph, and EventsTool for other requests.
func category(e pathway.LogEntry, g *graph.Graph) EventCategory {
	if g == nil {
		return EventsTool
	}
	if n := g.Nodes[e.Node]; n != nil && n.Type == graph.NodeWebhook && n.Name == e.Request.Name {
		return EventsWebhook
	}
	return EventsTool
}

// log remembers the variables of a turn's log and queues the write of the log. Beyond maxLogged it writes a note once, and then nothing.
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
			Kind: pathway.LogError, Text: fmt.Sprintf("the log of this call has reached its limit of %d bytes: later entries are not stored", maxLogged), At: b.clock.Now(),
		}}
	}
	b.append(write{"log of a turn", l.Turn, func(ctx context.Context) error {
		return b.store.AppendLog(ctx, b.call.Org, b.call.ID, l)
	}})
}

// size returns the size of a log as JSON in bytes.
func size(l pathway.Log) int {
	raw, err := json.Marshal(l) //nolint:musttag // only its length matters
	if err != nil {
		return maxLogged
	}
	return len(raw)
}

// request sends a notice of a request to the webhook, if the plan contains the category.
func (b *recordWriter) request(category EventCategory, l request.Log) {
	b.notice(category, EventInfo, requestText(l))
}

// notice numbers a notice and queues its write, if the plan contains the category.
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

// append queues a write. If the queue is full, it logs that the write is lost. After close it does nothing.
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

// signal wakes the writing goroutine.
func (b *recordWriter) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next waits for the next write. ok is false when the writer is closed and no writes remain.
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

// write performs the queued writes until next reports that no writes remain.
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

// try performs a write, and retries it until patience is over. It tries at least once.
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

// changed stores c as the current record for observations, with the last transfer by the peer.
func (b *recordWriter) changed(c Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.moved.record(c)
}

// logWithdrawn writes the early answers that no log contains yet as the log of a turn without an answer.
func (b *recordWriter) logWithdrawn() {
	b.mu.Lock()
	l := pathway.Log{Turn: b.turns + 1, Withdrawn: b.withdrawn}
	b.withdrawn = pathway.Withdrawn{}
	b.mu.Unlock()
	if l.Withdrawn.Answers > 0 {
		b.log(l)
	}
}

// close makes the writer ignore further events, and waits until all queued writes are performed or given up. It may be called twice.
func (b *recordWriter) close() {
	b.logWithdrawn()
	b.mu.Lock()
	b.closed = true
	b.observed.partials.end(b.call.ID)
	b.signal()
	b.mu.Unlock()
	<-b.done
}

// summarized returns a call's record with the summary of its conversation, the number of model calls, and the models that answered, without
// costs.
func (b *recordWriter) summarized(c Call) (Call, []llm.Use) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.summary, c.ModelCalls = b.summary.summary(), b.calls
	return c, b.uses
}

// found returns the known variables, overridden by the variables that the logs have set.
func (b *recordWriter) found(known map[string]any) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return merged(known, b.variables)
}

// remember adds to the map known the variables that a turn has set.
func remember(known map[string]any, turn pathway.Log) {
	for _, e := range turn.Entries {
		maps.Copy(known, e.Variables)
	}
}

// merged returns a new map with the variables of both maps. The second map's values override the first map's.
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
