package call

import (
	"context"
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
	done    chan struct{}
}

// transcriptLines is how many lines may wait for the database. A conversation that is so far ahead of it waits after all.
const transcriptLines = 1000

// Writing a line is tried so often, with a pause between.
const (
	lineAttempts = 5
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
	line.Seq, line.CreatedAt = t.seq, t.service.Clock.Now()
	t.lines <- line
}

func (t *transcriber) write(ctx context.Context) {
	defer close(t.done)
	for line := range t.lines {
		var err error
		for range lineAttempts {
			if err = t.service.Store.Append(ctx, t.call.Org, t.call.ID, line); err == nil {
				break
			}
			pause(ctx, linePause)
		}
		if err != nil {
			t.service.Logger.ErrorContext(ctx, "a line of a transcript is lost", "call_id", t.call.ID, "seq", line.Seq, "error", err)
		}
	}
}

// close waits until everything is written.
func (t *transcriber) close() {
	close(t.lines)
	<-t.done
}
