// Package talk speaks the answers of calls by streaming speech services. An adapter describes the messages of its service by a Protocol; a
// Talk connects, sends the pieces of answers, places words in the audio, opens lost connections again, and bounds every wait.
package talk

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// Protocol is the protocol of a service on one connection. Its methods are not called concurrently, and must not block.
type Protocol interface {
	// Say returns the messages that speak a piece in a context. first states that the context is new. Contexts have positive numbers.
	Say(number int, first bool, text string) []session.Message
	// End returns the messages that state that no further piece follows in a context.
	End(number int) []session.Message
	// Cancel returns the messages that cancel a context.
	Cancel(number int) []session.Message
	// Receive parses a message of the service. Unknown messages are no error. An error states that the message is damaged: the connection
	// is replaced.
	Receive(m session.Message) (Event, error)
}

// Event is the content of a message of a service. Its slices are only used until the next Receive.
type Event struct {
	Context  int     // number of the context; 0 means the context of the oldest piece that is not complete
	Audio    []int16 // the next samples of the context, at Config.Rate
	Words    []Word  // words of the context, or parts of words, in order
	Relative bool    // whether the times of Words begin with Audio; otherwise they begin with the context

	PieceDone bool     // whether the oldest piece of the context is complete
	Done      bool     // whether the service has ended the context
	Cleared   bool     // whether the service has carried out a Cancel; only for Config.Single
	Refusal   *Refusal // the service does not speak the context, or nothing at all if Context is 0
}

// Word is a word, or a part of a word, and its place in the audio.
type Word struct {
	Text       string
	Start, End time.Duration
}

// Refusal is an error message of a service.
type Refusal struct {
	Status int    // an HTTP status, or 0
	Code   string // the service's name of the error, or ""
}

// Config configures a Talk.
type Config struct {
	Dial     func(ctx context.Context) (session.Conn, Protocol, error)
	Rate     int           // sample rate of Event.Audio, in hertz
	Single   bool          // whether the service knows no contexts: it speaks piece after piece, and a Cancel clears all of them
	Follow   bool          // whether the service does not report the end of a piece, so that a piece ends with its last word
	Patience time.Duration // maximum wait for a message while a piece is not complete; 0 means 5 s

	callwright.Runtime
}

const (
	defaultPatience = 5 * time.Second
	maxPiece        = 10 * time.Minute // of audio of one piece
	maxQueue        = 1000             // messages that the connection has not accepted
)

// Talk is a tts.Talk.
type Talk struct {
	cfg     Config
	request tts.Request
	cancel  context.CancelFunc
	ctx     context.Context //nolint:containedctx // the Talk lives as long as the context of its Open
	wait    sync.WaitGroup

	mu       sync.Mutex
	err      error // set at the end
	link     *link // nil without a connection
	dialing  bool
	answers  []*answer // neither complete nor canceled
	sent     []*piece  // sent on link and not complete, oldest first
	contexts int       // number of the last context
	clearing int       // number of cancellations that the service has not confirmed; only for Config.Single
	lost     bool      // whether no new audio has arrived since the last call of again
}

var _ tts.Talk = (*Talk)(nil)

// New starts the speech of a call.
func New(ctx context.Context, r tts.Request, cfg Config) *Talk {
	if cfg.Patience <= 0 {
		cfg.Patience = defaultPatience
	}
	cfg.Runtime = cfg.WithDefaults()
	t := &Talk{cfg: cfg, request: r}
	t.ctx, t.cancel = context.WithCancel(ctx)
	context.AfterFunc(t.ctx, func() { t.end(t.ctx.Err()) })
	return t
}

// Synthesize speaks one text by a Talk of its own.
func Synthesize(ctx context.Context, s tts.Talker, r tts.Request) (tts.Stream, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	t := s.Talk(ctx, r)
	a := t.Answer(ctx)
	defer a.End()
	return &alone{a.Say(r.Text), t}, nil
}

// alone is the only stream of a Talk.
type alone struct {
	tts.Stream

	talk tts.Talk
}

// Marks implements tts.Marker.
func (a *alone) Marks() []tts.Mark { return tts.MarksOf(a.Stream) }

// Close implements tts.Stream.
func (a *alone) Close() error {
	_ = a.Stream.Close()
	return a.talk.Close()
}

// Answer implements tts.Talk. It connects if there is no connection, so that the first piece does not wait for it.
func (t *Talk) Answer(ctx context.Context) tts.Answer {
	a := &answer{talk: t, ctx: ctx}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil || ctx.Err() != nil {
		return a
	}
	t.answers = append(t.answers, a)
	a.stop = context.AfterFunc(ctx, a.cancel)
	t.advance()
	return a
}

// Close implements tts.Talk.
func (t *Talk) Close() error {
	t.end(io.ErrClosedPipe)
	t.wait.Wait()
	return nil
}

// end ends the Talk, unless it has ended.
func (t *Talk) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.err = err
	t.fail(err)
	t.disconnect()
	t.cancel()
}

// fail ends all answers with an error. The caller must hold t.mu.
func (t *Talk) fail(err error) {
	for len(t.answers) > 0 {
		t.answers[0].fail(err)
	}
}

// advance connects if necessary, and sends the pieces that were not sent. The caller must hold t.mu.
func (t *Talk) advance() {
	switch {
	case t.err != nil, len(t.answers) == 0, t.dialing, t.clearing > 0:
		return
	case t.link == nil:
		t.dialing = true
		t.wait.Go(t.dial)
		return
	}
	for _, a := range slices.Clone(t.answers) {
		a.advance()
	}
	t.watch()
}

// dial opens a connection.
func (t *Talk) dial() {
	conn, protocol, err := t.cfg.Dial(t.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialing = false
	switch status, refused := errors.AsType[session.Status](err); {
	case t.err != nil:
		if err == nil {
			_ = conn.Close()
		}
	case refused:
		t.cfg.Logger.WarnContext(t.ctx, "the speech service refuses a connection", "status", int(status), "error", err)
		t.fail(err)
	case err != nil:
		t.interrupted(err)
	default:
		t.link = newLink(t, conn, protocol)
		t.advance()
	}
}

// disconnect closes the connection, if any. The caller must hold t.mu.
func (t *Talk) disconnect() {
	if t.link != nil {
		t.link.close()
		t.link = nil
	}
	t.sent, t.clearing = nil, 0
}

// interrupted handles the loss of a connection. The caller must hold t.mu.
func (t *Talk) interrupted(cause error) {
	t.disconnect()
	waiting := false
	for _, a := range t.answers {
		waiting = a.rewind() || waiting
	}
	if waiting { // otherwise the next answer or piece connects
		t.again(callwright.Errorf(callwright.CodeUnavailable, "the connection to the speech service was lost: %w", cause))
	}
}

// again sends the pieces that are not complete once more, after a lost connection or a context that the service has ended on its own. If no
// new audio has arrived since the previous such failure, it ends all answers with the error instead. The caller must hold t.mu.
func (t *Talk) again(cause error) {
	if t.lost {
		t.lost = false
		t.cfg.Logger.WarnContext(t.ctx, "speaking has failed twice without new audio: the answer is not spoken", "error", cause)
		t.fail(cause)
		t.disconnect()
		return
	}
	t.lost = true
	t.cfg.Logger.WarnContext(t.ctx, "speaking has failed and is tried again", "error", cause)
	t.advance()
}

// handle applies an event. The caller must hold t.mu.
func (t *Talk) handle(e Event) {
	switch {
	case e.Cleared:
		t.clearing = max(0, t.clearing-1)
		t.advance()
		return
	case t.clearing > 0:
		return // audio that was canceled
	}
	a := t.answerOf(e.Context)
	if e.Refusal != nil {
		t.refuse(a, e)
		return
	}
	if a != nil {
		a.handle(e)
	}
	t.watch()
}

// answerOf returns the answer of a context, or nil if it was canceled or is unknown. The caller must hold t.mu.
func (t *Talk) answerOf(number int) *answer {
	if number == 0 && len(t.sent) > 0 {
		return t.sent[0].answer
	}
	for _, a := range t.answers {
		if a.number == number && number != 0 {
			return a
		}
	}
	return nil
}

// refuse ends the answer that the service refuses, or all of them. The caller must hold t.mu.
func (t *Talk) refuse(a *answer, e Event) {
	if a == nil && e.Context != 0 {
		return // the answer was canceled
	}
	t.cfg.Logger.WarnContext(t.ctx, "the speech service refuses a text", "status", e.Refusal.Status, "code", plainCode(e.Refusal.Code))
	code := callwright.CodeUnavailable
	if e.Refusal.Status == 429 {
		code = callwright.CodeTooManyRequests
	}
	err := callwright.Errorf(code, "the speech service refuses the text")
	if e.Context != 0 {
		a.fail(err)
		return
	}
	t.fail(err)
	t.disconnect()
}

// plainCode returns the service's name of an error, or "" if it is no plain name and might quote the request.
func plainCode(code string) string {
	if len(code) > 64 || slices.ContainsFunc([]byte(code), func(c byte) bool {
		return c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		return ""
	}
	return code
}

// watch bounds the wait for the next message while a piece is not complete. The caller must hold t.mu.
func (t *Talk) watch() {
	switch {
	case t.link == nil:
	case len(t.sent) == 0:
		t.link.late.Stop()
	default:
		t.link.late.Reset(t.cfg.Patience)
	}
}

// tooLate handles a connection on which no message has arrived for Config.Patience.
func (t *Talk) tooLate(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.link != l || len(t.sent) == 0 {
		return
	}
	if p := t.sent[0]; t.cfg.Follow && p.begun && (!p.marked || p.worded()) {
		p.complete() // the service has sent no words, or other punctuation
		t.watch()
		return
	}
	t.interrupted(callwright.Errorf(callwright.CodeUnavailable, "the speech service was silent for %v", t.cfg.Patience))
}

// silent reports whether a text contains nothing to speak.
func silent(text string) bool { return engine.Silent(text) }

// maxSamples returns the maximum number of samples of a piece.
func (t *Talk) maxSamples() int { return pcm.Samples(maxPiece, t.cfg.Rate) }
