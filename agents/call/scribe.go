package call

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
)

// scribe writes what happens on a call into the store as it happens, so that a crash loses at most what is being written:
// the lines of the transcript, the log of each turn, and what the webhook is to be told. The conversation never waits for
// the database.
type scribe struct {
	service *Service
	call    Call
	graph   *graph.Graph // nil: no pathway leads the call
	pages   chan page
	done    chan struct{}

	mu        sync.Mutex // the line and the conversation's goroutines all have things to write
	closed    bool
	lines     int            // the number of the last line
	notices   int            // of the last notice
	variables map[string]any // what the logs have found out, beside what was known before
	logged    int            // bytes of logs
	full      bool           // there are as many as there may be
}

// page is something to write.
type page struct {
	what   string // for our log
	number int
	write  func(ctx context.Context) error
}

// pagesWaiting is how much may wait for the database. What comes when there is so much is lost.
const pagesWaiting = 1000

// maxLogged bounds the logs of a call, in bytes: whoever reads its record reads all of them.
const maxLogged = 16 << 20

// Writing a page is tried for as long as this, with a pause between. After one that was lost the next ones are tried once
// each, until one succeeds.
const (
	pagePatience = 30 * time.Second
	pagePause    = 200 * time.Millisecond
)

// scribe begins to write. It must be closed.
func (s *Service) scribe(ctx context.Context, c Call, graph *graph.Graph) *scribe {
	b := &scribe{
		service: s, call: c, graph: graph, pages: make(chan page, pagesWaiting), done: make(chan struct{}),
		notices: firstNotice, variables: map[string]any{},
	}
	go b.write(context.WithoutCancel(ctx))
	return b
}

// Entry is a line that was spoken: see conversation.Observer.
func (b *scribe) Entry(e conversation.Entry) {
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

// line numbers a line of the transcript and has it written.
func (b *scribe) line(line Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines++
	line.Text = writable(line.Text)
	line.Seq, line.CreatedAt = b.lines, b.service.Clock.Now()
	b.put(page{"line of a transcript", line.Seq, func(ctx context.Context) error {
		return b.service.Store.Append(ctx, b.call.Org, b.call.ID, line)
	}})
}

// turn is what happened in a turn of the conversation.
func (b *scribe) turn(l pathway.Log) {
	for _, e := range l.Entries {
		if e.Kind == pathway.LogRequest && e.Request != nil {
			b.request(b.category(e), *e.Request)
		}
	}
	b.log(l)
}

// category is what kind of request an entry is about: a webhook node's, or a tool's.
func (b *scribe) category(e pathway.LogEntry) EventCategory {
	if b.graph == nil {
		return EventsTool
	}
	if n := b.graph.Nodes[e.Node]; n != nil && n.Type == graph.NodeWebhook && n.Name == e.Request.Name {
		return EventsWebhook
	}
	return EventsTool
}

// log has a turn's log written, and keeps what it has found out.
func (b *scribe) log(l pathway.Log) {
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
			Kind: pathway.LogError, Text: "the log of this call is as long as it may be", At: b.service.Clock.Now(),
		}}
	}
	b.put(page{"log of a turn", l.Turn, func(ctx context.Context) error {
		return b.service.Store.AppendLog(ctx, b.call.Org, b.call.ID, l)
	}})
}

// size is about the bytes of a log.
func size(l pathway.Log) int {
	raw, err := json.Marshal(l) //nolint:musttag // only its length matters
	if err != nil {
		return maxLogged
	}
	return len(raw)
}

// request tells the webhook of a request that was made.
func (b *scribe) request(category EventCategory, l request.Log) {
	b.notice(category, EventInfo, requestText(l))
}

// notice numbers a notice and has it written, if the call wants such.
func (b *scribe) notice(category EventCategory, level EventLevel, message string) {
	if !b.call.wants(category) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notices++
	n := Notice{
		Seq: b.notices, Category: category, Level: level, Message: writable(message), CreatedAt: b.service.Clock.Now(),
	}
	b.put(page{"notice", n.Seq, func(ctx context.Context) error { return b.service.announce(ctx, b.call, n) }})
}

// put hands a page to the writer.
func (b *scribe) put(p page) {
	if b.closed {
		return
	}
	select {
	case b.pages <- p:
	default:
		b.service.Logger.Error("too much waits for the database: a "+p.what+" is lost", "call_id", b.call.ID, "number", p.number)
	}
}

// write writes pages until there are no more.
func (b *scribe) write(ctx context.Context) {
	defer close(b.done)
	patience := pagePatience
	for p := range b.pages {
		err := p.try(ctx, patience)
		patience = pagePatience
		if err != nil {
			patience = 0
			b.service.Logger.ErrorContext(
				ctx, "a "+p.what+" is lost", "call_id", b.call.ID, "number", p.number, "error", err)
		}
	}
}

// try writes one page.
func (p page) try(ctx context.Context, patience time.Duration) error {
	for until := time.Now().Add(patience); ; pause(ctx, pagePause) {
		try, cancel := context.WithTimeout(ctx, storePatience)
		err := p.write(try)
		cancel()
		if err == nil || !time.Now().Before(until) {
			return err
		}
	}
}

// close waits until everything is written. It may be called twice.
func (b *scribe) close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.pages)
	}
	b.mu.Unlock()
	<-b.done
}

// found is what is known with what was found out.
func (b *scribe) found(known map[string]any) map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return merged(known, b.variables)
}
