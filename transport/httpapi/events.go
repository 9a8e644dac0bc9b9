package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/callwright/callwright"
)

// Intervals and limits of event streams.
const (
	streamBeat    = 15 * time.Second // interval of comments while there are no events, because proxies may close idle connections
	streamLife    = 15 * time.Minute // maximum duration; then the client reconnects
	streamCheck   = streamBeat       // interval of checks of the client's key, which is also checked when it expires
	streamTimeout = 10 * time.Second // time for a client to read a message
)

// Event is a server-sent event (HTML, section 9.2). Comment, ID and Name must not contain line breaks.
type Event struct {
	Comment string // omitted if empty
	ID      string // the client sends it as Last-Event-ID when it reconnects; omitted if empty
	Name    string
	Data    []byte // JSON; if nil, clients only store the ID
}

// encode returns the lines of an event. It removes line breaks from the JSON.
func (e Event) encode() ([]byte, error) {
	var b bytes.Buffer
	if e.Comment != "" {
		fmt.Fprintf(&b, ": %s\n", e.Comment)
	}
	if e.ID != "" {
		fmt.Fprintf(&b, "id: %s\n", e.ID)
	}
	if e.Name != "" {
		fmt.Fprintf(&b, "event: %s\n", e.Name)
	}
	if e.Data != nil {
		b.WriteString("data: ")
		if err := json.Compact(&b, e.Data); err != nil {
			return nil, err
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// SendEvents answers with server-sent events. It sends the given first event, then an event for each value that the function next returns,
// and comments while next waits. The stream ends if the client disconnects or does not read, after 15 minutes, and when the key expires or
// is revoked. It also ends when next returns io.EOF, callwright.CodeNotFound or callwright.CodeUnavailable. Other errors end it too and are
// logged, because the answer has begun and cannot report them. The function next must return when its context ends, and is then called
// again.
func SendEvents[T any](
	ctx context.Context, w http.ResponseWriter, first Event, next func(ctx context.Context) ([]T, error), event func(T) (Event, error),
) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("X-Accel-Buffering", "no") // tells proxies not to buffer
	if Head(ctx) {
		w.WriteHeader(http.StatusOK)
		return
	}
	s := stream[T]{w: w, control: http.NewResponseController(w), next: next, event: event}
	ctx, cancel := context.WithTimeout(ctx, streamLife)
	defer cancel()
	err := s.follow(ctx, first)
	for _, usual := range []error{errLeft, io.EOF, callwright.ErrUnavailable, callwright.ErrNotFound} {
		if ctx.Err() != nil || errors.Is(err, usual) {
			return
		}
	}
	LogFailure(ctx, err)
}

// stream writes an answer of server-sent events.
type stream[T any] struct {
	w       http.ResponseWriter
	control *http.ResponseController
	next    func(ctx context.Context) ([]T, error)
	event   func(T) (Event, error)
}

// errLeft is the error of a write to a client that has disconnected or does not read.
var errLeft = errors.New("httpapi: the client has left the stream")

// follow sends events until an error occurs, and returns the error.
func (s stream[T]) follow(ctx context.Context, first Event) error {
	defer s.mustTake() // a deadline for the end of the answer
	if err := s.send(first); err != nil {
		return err
	}
	for checked := time.Now(); ; {
		beat, end := streamBeat, infoOf(ctx).principal.ExpiresAt
		if ahead := time.Until(end); ahead > 0 {
			beat = min(beat, ahead)
		}
		news, err := s.nextWithin(ctx, beat)
		if err != nil {
			return err
		}
		if expired := checked.Before(end) && !time.Now().Before(end); expired || time.Since(checked) >= streamCheck {
			if err := StillAuthorized(ctx); err != nil {
				return err
			}
			checked = time.Now()
		}
		if len(news) == 0 {
			if err := s.write([]byte(":\n\n")); err != nil {
				return err
			}
		}
		for _, one := range news {
			event, err := s.event(one)
			if err != nil {
				return err
			}
			if err := s.send(event); err != nil {
				return err
			}
		}
	}
}

// nextWithin calls the function next with the given timeout. If the timeout passes, it returns no events and no error, unless ctx has ended
// too.
func (s stream[T]) nextWithin(ctx context.Context, beat time.Duration) ([]T, error) {
	within, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	news, err := s.next(within)
	if err != nil && within.Err() != nil {
		return nil, ctx.Err()
	}
	return news, err
}

// send encodes and writes an event.
func (s stream[T]) send(e Event) error {
	lines, err := e.encode()
	if err != nil {
		return err
	}
	return s.write(lines)
}

// write writes lines and flushes them. It returns errLeft on failure.
func (s stream[T]) write(lines []byte) error {
	s.mustTake()
	if _, err := s.w.Write(lines); err != nil {
		return errLeft
	}
	if err := s.control.Flush(); err != nil {
		return errLeft
	}
	return nil
}

// mustTake sets the deadline by which the client must have read the next write. It has no effect on writers without deadlines.
func (s stream[T]) mustTake() { _ = s.control.SetWriteDeadline(time.Now().Add(streamTimeout)) }
