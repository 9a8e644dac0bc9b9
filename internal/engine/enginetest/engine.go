package enginetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// Dialect is the server's side of a recognizer's protocol in one session.
type Dialect interface {
	// Rate returns the sample rate of the audio from Hear, in hertz.
	Rate() int
	// Accept reports whether a request may open a session with the given key.
	Accept(r *http.Request, key string) bool
	// Greet returns the first messages of a session.
	Greet() []string
	// Hear parses a message of a client.
	Hear(text bool, data []byte) (samples []int16, ask Ask)
	// Partial returns the messages for the text so far. They are sent if the text has changed.
	Partial(u Said) []string
	// Final returns the messages for the end of an utterance.
	Final(u Said) []string
}

// Ask is the kind of request in a client's message.
type Ask int

// The requests of clients.
const (
	AskNothing Ask = iota
	AskFinal       // the end of the utterance
	AskClose       // the end of the session, after the end of the utterance
	AskInvalid     // a message that the protocol does not contain
)

// Said is an utterance in a session.
type Said struct {
	Text     string
	Number   int     // number of utterances with a Final before it
	From, To float64 // the time of the utterance's audio in the session, in seconds
	Begun    bool    // whether the utterance had a text before
}

// Engine is a server with the protocol of a recognizer, for tests. It recognizes audio by Ear, which the test chooses.
type Engine struct {
	Dialect func() Dialect
	Ear     func(samples []int16, rate int) string // returns the words in the audio of an utterance; nil means TextOfSigns
	Key     string                                 // of accepted requests
	Status  int                                    // with which all sessions are refused; 0 means none
	Idle    time.Duration                          // time without a message after which a session is closed; 0 means never
	TLS     bool                                   // whether the server requires TLS
	Fault   Fault                                  // of all sessions
	Break   func(session int, partial string) bool // whether a session, counted from 0, ends in the middle of a word; nil means no

	mu       sync.Mutex
	urls     []*url.URL
	sessions int
	partials []string
	finals   []string
	messages int
	invalid  []string
}

// Serve serves the engine until the test ends.
func (e *Engine) Serve(t testing.TB) *httptest.Server {
	t.Helper()
	start := httptest.NewServer
	if e.TLS {
		start = httptest.NewTLSServer
	}
	return webSocket(t, func(h http.Header, r *http.Request) int {
		e.mu.Lock()
		e.urls = append(e.urls, r.URL)
		e.mu.Unlock()
		if e.Status != 0 {
			h.Set("Retry-After", "7")
			return e.Status
		}
		if !e.Dialect().Accept(r, e.Key) {
			return http.StatusUnauthorized
		}
		return 0
	}, func(r *http.Request, conn *websocket.Conn) {
		conn.SetReadLimit(8 << 20)
		e.mu.Lock()
		number := e.sessions
		e.sessions++
		e.mu.Unlock()
		s := &hearing{engine: e, conn: conn, dialect: e.Dialect(), number: number}
		s.serve(r.Context())
	}, start)
}

// Sessions returns the number of sessions so far.
func (e *Engine) Sessions() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions
}

// URLs returns the URLs of the requests for sessions so far.
func (e *Engine) URLs() []*url.URL {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.urls)
}

// Partials returns the partial texts of all sessions so far.
func (e *Engine) Partials() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.partials)
}

// Finals returns the final texts of all sessions so far.
func (e *Engine) Finals() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.finals)
}

// Messages returns the number of messages of clients so far.
func (e *Engine) Messages() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.messages
}

// Invalid returns the messages so far that the protocol does not contain.
func (e *Engine) Invalid() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.invalid)
}

// hearing is a session of an Engine.
type hearing struct {
	engine  *Engine
	conn    *websocket.Conn
	dialect Dialect
	number  int

	heard []int16
	past  int // number of samples of the utterances before
	said  Said
}

func (s *hearing) send(ctx context.Context, messages []string) {
	for _, m := range messages {
		_ = s.conn.Write(ctx, websocket.MessageText, []byte(m))
	}
}

// next returns the next message. It closes a session that is idle for too long.
func (s *hearing) next(ctx context.Context) (bool, []byte, error) {
	if s.engine.Idle > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.engine.Idle)
		defer cancel()
	}
	kind, data, err := s.conn.Read(ctx)
	return kind == websocket.MessageText, data, err
}

func (s *hearing) serve(ctx context.Context) {
	s.send(ctx, s.dialect.Greet())
	for {
		text, data, err := s.next(ctx)
		if err != nil {
			return
		}
		samples, ask := s.dialect.Hear(text, data)
		s.heard = append(s.heard, samples...)
		s.note(ask, data)
		if refuser, ok := s.dialect.(interface{ Refuse() string }); ok && ask == AskInvalid {
			s.send(ctx, []string{refuser.Refuse()})
			_ = s.conn.Close(websocket.StatusPolicyViolation, "invalid message")
			return
		}
		if len(samples) > 0 && s.partial(ctx) {
			return
		}
		if ask == AskFinal || ask == AskClose {
			s.final(ctx)
		}
		if ask == AskClose {
			_ = s.conn.Close(websocket.StatusNormalClosure, "")
			return
		}
	}
}

// note counts a message of the client.
func (s *hearing) note(ask Ask, data []byte) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.engine.messages++
	if ask == AskInvalid {
		s.engine.invalid = append(s.engine.invalid, string(data[:min(len(data), 200)]))
	}
}

// listen updates the utterance, and reports whether its text has changed.
func (s *hearing) listen() bool {
	ear := s.engine.Ear
	if ear == nil {
		ear = func(samples []int16, _ int) string { return TextOfSigns(samples) }
	}
	text := strings.TrimSpace(ear(s.heard, s.dialect.Rate()))
	changed := text != s.said.Text
	rate := float64(s.dialect.Rate())
	s.said.Begun = s.said.Begun || s.said.Text != ""
	s.said.Text, s.said.From, s.said.To = text, float64(s.past)/rate, float64(s.past+len(s.heard))/rate
	return changed
}

// partial sends the text so far, and reports whether the session has ended.
func (s *hearing) partial(ctx context.Context) (over bool) {
	if changed := s.listen(); !changed && !s.eachMessage() {
		return false
	}
	s.engine.mu.Lock()
	if s.said.Text != "" {
		s.engine.partials = append(s.engine.partials, s.said.Text)
	}
	breaks := s.engine.Break
	s.engine.mu.Unlock()
	if breaks != nil && breaks(s.number, s.said.Text) {
		_ = s.conn.Close(websocket.StatusInternalError, "overloaded")
		return true
	}
	if s.engine.Fault == NoPartials && !s.eachMessage() {
		return false
	}
	s.send(ctx, s.engine.Fault.before(s.dialect, s.said))
	s.send(ctx, s.dialect.Partial(s.said))
	return false
}

// eachMessage reports whether the dialect answers each message.
func (s *hearing) eachMessage() bool {
	d, ok := s.dialect.(interface{ EachMessage() bool })
	return ok && d.EachMessage()
}

// final ends the utterance.
func (s *hearing) final(ctx context.Context) {
	s.listen()
	messages := s.dialect.Final(s.said)
	s.send(ctx, s.engine.Fault.atEnd(s.dialect, s.said, messages))
	s.engine.mu.Lock()
	s.engine.finals = append(s.engine.finals, s.said.Text)
	s.engine.mu.Unlock()
	s.past += len(s.heard)
	s.heard = nil
	number := s.said.Number
	if len(messages) > 0 {
		number++
	}
	s.said = Said{Number: number}
}
