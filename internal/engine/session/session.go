// Package session runs the sessions of streaming speech recognizers. An adapter describes the messages of its engine by a Protocol; the
// session sends audio, keeps the connection alive, joins the engine's segments to utterances, and bounds every wait.
package session

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

// Message is a message of a connection.
type Message struct {
	Text bool // whether the message is text; otherwise it is binary
	Data []byte
}

// Conn is a connection to an engine. One goroutine calls Read, and another one Write.
type Conn interface {
	// Read returns the next message. It returns an error when the connection or ctx has ended.
	Read(ctx context.Context) (Message, error)
	// Write sends a message. It does not retain m.Data. It returns an error when ctx or the connection has ended.
	Write(ctx context.Context, m Message) error
	// Close ends the connection immediately, also while Read and Write wait. It may be called twice.
	Close() error
}

// Protocol is the protocol of an engine in one session. Its methods are not called concurrently, and must not block.
type Protocol interface {
	// Audio returns the message with the given samples, at Config.Rate. Its data is appended to dst.
	Audio(dst []byte, samples []int16) Message
	// Force returns the messages that end an utterance. The audio of the utterance precedes them.
	Force() []Message
	// Tune returns the messages that change the hints, or nil if the engine cannot change them.
	Tune(h conversation.Hearing) []Message
	// Idle returns the messages that keep the session alive, or nil.
	Idle() []Message
	// Receive parses a message of the engine. An error ends the session. Unknown messages are no error.
	Receive(m Message) ([]Event, error)
}

// Event is a result of an engine.
type Event struct {
	Text    string // of the current segment, complete so far
	Segment bool   // whether the text is final, and the following events belong to the next segment of the utterance
	Done    bool   // whether the event answers a Force: the utterance has ended. Then Text belongs to it only if Segment is set

	// Over is whether the engine has judged that the caller has finished speaking. It may then not answer the next Force.
	Over bool

	Stable                int // number of leading words of Text that cannot change
	EndOfTurn, Confidence float64
}

// Config configures a session. Zero durations mean the defaults.
type Config struct {
	Rate  int           // sample rate of the audio for the engine, in hertz
	Piece time.Duration // duration of the audio in one message; 0 means 40 ms
	Least time.Duration // minimum duration of the audio in one message; silence is added to the last one of an utterance
	Idle  time.Duration // time without a message after which Protocol.Idle is sent; 0 means never
	// Settle is the time after a Force without any event after which the utterance ends with the text so far; 0 means never. After
	// Event.Over, it is at most 200 ms.
	Settle time.Duration
	// Serial delays the audio after a Force until the utterance has ended, because the engine's results do not tell to which of two utterances
	// they belong.
	Serial bool
	// Patience is the longest wait for the end of an utterance after Force, and for the connection to take a message; 0 means 10 s.
	Patience time.Duration
}

const (
	defaultPiece    = 40 * time.Millisecond
	defaultPatience = 10 * time.Second
	settleOver      = 200 * time.Millisecond
	maxQueue        = 30 * time.Second // of audio that the connection has not taken
	maxResults      = 1000             // that nobody has read
	maxText         = 64 << 10         // bytes of an utterance: about an hour of speech
)

// Session is a conversation.Stream over a connection.
type Session struct {
	conn   Conn
	cfg    Config
	ctx    context.Context //nolint:containedctx // the session ends with the context of its Open
	cancel context.CancelFunc
	rate   *pcm.Resampler
	piece  []int16 // audio for the next message; only used by Write and Force

	sends chan struct{} // receives a token when there is a message to send
	news  chan struct{} // receives a token when there is a result or an error
	wait  sync.WaitGroup

	mu       sync.Mutex
	protocol Protocol
	queue    []queued
	free     [][]byte        // buffers of sent messages with audio
	written  bool            // whether the current utterance has audio
	held     bool            // whether nothing is sent until the oldest forced utterance has ended
	open     []bool          // utterances that were forced and have not ended, oldest first; true if they have audio
	ended    int             // number of ended utterances
	segments strings.Builder // final text of the current segments of utterance ended
	words    int             // number of words of segments
	finished bool            // whether the newest event of utterance ended was Over
	partial  Event           // of the current segment
	results  []conversation.Heard
	err      error
	settle   *time.Timer
	late     *time.Timer
}

var _ conversation.Stream = (*Session)(nil)

// New starts a session on a connection, which the session closes. rate is the sample rate of the caller's audio. It returns CodeBadRequest
// for an unsupported rate, and then has closed the connection.
func New(ctx context.Context, conn Conn, protocol Protocol, rate int, cfg Config) (*Session, error) {
	if cfg.Piece <= 0 {
		cfg.Piece = defaultPiece
	}
	if cfg.Patience <= 0 {
		cfg.Patience = defaultPatience
	}
	resampler, err := pcm.NewResampler(rate, cfg.Rate)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	s := &Session{
		conn: conn, cfg: cfg, rate: resampler, protocol: protocol,
		sends: make(chan struct{}, 1), news: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.wait.Go(s.read)
	s.wait.Go(s.write)
	return s, nil
}

// Write adds audio to the current utterance.
func (s *Session) Write(samples []int16) error {
	if err := s.over(); err != nil {
		return err
	}
	s.piece = s.rate.Process(s.piece, samples)
	size := pcm.Samples(s.cfg.Piece, s.cfg.Rate)
	rest := s.piece
	for ; len(rest) >= size; rest = rest[size:] {
		s.send(rest[:size])
	}
	s.piece = append(s.piece[:0], rest...)
	return s.over()
}

// send queues a message with audio.
func (s *Session) send(samples []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = true
	var buffer []byte
	if n := len(s.free); n > 0 {
		buffer, s.free = s.free[n-1], s.free[:n-1]
	}
	s.push(queued{Message: s.protocol.Audio(buffer[:0], samples), audio: true})
}

// queued is a message to send. The buffer of audio is used again.
type queued struct {
	Message
	audio bool
	force bool // whether the message ends an utterance
}

// pushAll queues messages without audio. The caller must hold s.mu.
func (s *Session) pushAll(messages []Message) {
	for _, m := range messages {
		s.push(queued{Message: m})
	}
}

// push queues a message. The caller must hold s.mu.
func (s *Session) push(m queued) {
	if s.err != nil {
		return
	}
	s.queue = append(s.queue, m)
	if len(s.queue) > int(maxQueue/s.cfg.Piece) {
		s.fail(callwright.Errorf(callwright.CodeUnavailable, "the speech service does not take audio any more"))
		return
	}
	signal(s.sends)
}

// Force ends the current utterance.
func (s *Session) Force() error {
	if err := s.over(); err != nil {
		return err
	}
	if s.piece = s.rate.Flush(s.piece); len(s.piece) > 0 {
		if lack := pcm.Samples(s.cfg.Least, s.cfg.Rate) - len(s.piece); lack > 0 {
			s.piece = append(s.piece, make([]int16, lack)...)
		}
		s.send(s.piece)
		s.piece = s.piece[:0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, s.written)
	if s.written {
		s.pushAll(s.protocol.Force())
		if n := len(s.queue); n > 0 {
			s.queue[n-1].force = true
		}
	}
	s.written = false
	if len(s.open) == 1 {
		s.proceed()
	}
	return nil
}

// Tune changes the hints of the following utterances.
func (s *Session) Tune(h conversation.Hearing) error {
	if err := s.over(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushAll(s.protocol.Tune(h))
	return nil
}

// Next waits for the next result.
func (s *Session) Next(ctx context.Context) (conversation.Heard, error) {
	for {
		s.mu.Lock()
		if len(s.results) > 0 {
			h := s.results[0]
			s.results = slices.Delete(s.results, 0, 1)
			s.mu.Unlock()
			return h, nil
		}
		err := s.err
		s.mu.Unlock()
		if err == nil {
			err = s.ctx.Err()
		}
		if err != nil {
			return conversation.Heard{}, err
		}
		select {
		case <-s.news:
		case <-s.ctx.Done():
		case <-ctx.Done():
			return conversation.Heard{}, ctx.Err()
		}
	}
}

// Close ends the session, and waits for its goroutines.
func (s *Session) Close() error {
	s.mu.Lock()
	s.fail(io.ErrClosedPipe)
	s.mu.Unlock()
	s.wait.Wait()
	return nil
}

// over returns the error with which the session has ended, or nil.
func (s *Session) over() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return s.ctx.Err()
}

// fail ends the session with an error, unless it has ended. The caller must hold s.mu.
func (s *Session) fail(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	for _, t := range []*time.Timer{s.settle, s.late} {
		if t != nil {
			t.Stop()
		}
	}
	s.cancel()
	_ = s.conn.Close()
	signal(s.news)
}

// signal wakes the receiver of a channel with a buffer of one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write sends the queued messages, and keeps the session alive.
func (s *Session) write() {
	var idle <-chan time.Time
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	patience := time.AfterFunc(s.cfg.Patience, func() { _ = s.conn.Close() })
	patience.Stop()
	for {
		if s.cfg.Idle > 0 {
			timer.Reset(s.cfg.Idle)
			idle = timer.C
		}
		select {
		case <-s.ctx.Done():
			s.mu.Lock()
			s.fail(s.ctx.Err())
			s.mu.Unlock()
			return
		case <-idle:
			s.mu.Lock()
			s.pushAll(s.protocol.Idle())
			s.mu.Unlock()
		case <-s.sends:
		}
		for m, ok := s.pop(); ok; m, ok = s.pop() {
			if err := s.sendNow(m, patience); err != nil {
				s.awaitReason()
				s.mu.Lock()
				s.fail(callwright.Errorf(callwright.CodeUnavailable, "the connection to the speech service has ended: %w", err))
				s.mu.Unlock()
				return
			}
		}
	}
}

// awaitReason waits until the session has ended: the reader receives the reason for which a connection does not take messages.
func (s *Session) awaitReason() {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// sendNow sends a message, and keeps the buffer of audio for later ones. A connection that does not take the message within the patience is
// closed.
func (s *Session) sendNow(m queued, patience *time.Timer) error {
	patience.Reset(s.cfg.Patience)
	err := s.conn.Write(context.Background(), m.Message) //nolint:contextcheck // Close ends it; a context would cost allocations for each message
	patience.Stop()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.audio && len(s.free) < 4 {
		s.free = append(s.free, m.Data)
	}
	return nil
}

// pop returns the next queued message.
func (s *Session) pop() (queued, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.held {
		return queued{}, false
	}
	m := s.queue[0]
	s.held = s.cfg.Serial && m.force
	s.queue = slices.Delete(s.queue, 0, 1)
	return m, true
}

// read receives the messages of the engine.
func (s *Session) read() {
	for {
		m, err := s.conn.Read(s.ctx)
		s.mu.Lock()
		var events []Event
		if err != nil {
			err = callwright.Errorf(callwright.CodeUnavailable, "the connection to the speech service has ended: %w", err)
		} else {
			events, err = s.protocol.Receive(m)
		}
		for _, e := range events {
			s.receive(e)
		}
		if err != nil {
			s.fail(err)
		}
		over := s.err != nil
		s.mu.Unlock()
		if over {
			return
		}
	}
}
