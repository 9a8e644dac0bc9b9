package call

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/conversation"
)

// transcriber writes the lines of a call's transcript into the store as they are spoken, so that a crash loses at most
// the line that is being written. The conversation never waits for the database.
type transcriber struct {
	service *Service
	call    Call
	lines   chan Entry
	seq     int
	ended   sync.Once
	done    chan struct{}
}

// transcriptLines is how many lines may wait for the database. A conversation that is so far ahead of it waits after all.
const transcriptLines = 1000

// Writing a line is tried for as long as this, with a pause between. After a line that was lost the next ones are tried
// once each, until one succeeds.
const (
	linePatience = 30 * time.Second
	linePause    = 200 * time.Millisecond
)

func (s *Service) transcribe(ctx context.Context, c Call) *transcriber {
	t := &transcriber{service: s, call: c, lines: make(chan Entry, transcriptLines), done: make(chan struct{})}
	go t.write(context.WithoutCancel(ctx))
	return t
}

// Entry is a line that was spoken: see conversation.Observer.
func (t *transcriber) Entry(e conversation.Entry) {
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
	}
	t.add(line)
}

// add numbers a line and hands it to the writer. One goroutine adds at a time.
func (t *transcriber) add(line Entry) {
	t.seq++
	line.Text = writable(line.Text)
	line.Seq, line.CreatedAt = t.seq, t.service.Clock.Now()
	t.lines <- line
}

func (t *transcriber) write(ctx context.Context) {
	defer close(t.done)
	patience := linePatience
	for line := range t.lines {
		err := t.append(ctx, line, patience)
		patience = linePatience
		if err != nil {
			patience = 0
			t.service.Logger.ErrorContext(ctx, "a line of a transcript is lost", "call_id", t.call.ID, "seq", line.Seq, "error", err)
		}
	}
}

// append writes one line.
func (t *transcriber) append(ctx context.Context, line Entry, patience time.Duration) error {
	for until := time.Now().Add(patience); ; pause(ctx, linePause) {
		try, cancel := context.WithTimeout(ctx, storePatience)
		err := t.service.Store.Append(try, t.call.Org, t.call.ID, line)
		cancel()
		if err == nil || !time.Now().Before(until) {
			return err
		}
	}
}

// close waits until everything is written. It may be called twice.
func (t *transcriber) close() {
	t.ended.Do(func() { close(t.lines) })
	<-t.done
}
