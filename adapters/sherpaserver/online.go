// Package sherpaserver recognizes speech with the WebSocket servers of sherpa-onnx, which are free and run beside this program: the streaming
// one (Online) and the one for whole utterances (Offline).
//
// The adapter was tested against servers made from the programs' documentation, not against the programs.
package sherpaserver

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
)

const (
	defaultURL = "ws://127.0.0.1:6006"
	rate       = 16000
	piece      = 100 * time.Millisecond // of the audio in one message
)

// Config configures the client of a server. The zero Config is valid.
type Config struct {
	URL    string       // of the server, ws or wss; if empty, ws://127.0.0.1:6006
	Client *http.Client // if nil, http.DefaultClient
}

// parse returns the URL of the server. It returns CodeBadRequest for a URL that is none of a server.
func (c Config) parse() (*url.URL, error) {
	if c.URL == "" {
		c.URL = defaultURL
	}
	return session.ParseURL(c.URL)
}

// Online recognizes speech with the streaming server. It implements conversation.Streamer and conversation.Recognizer. The language is that of
// the server's model.
type Online struct {
	url    *url.URL
	client *http.Client
}

var (
	_ conversation.Recognizer = (*Online)(nil)
	_ conversation.Streamer   = (*Online)(nil)
)

// NewOnline checks the configuration and returns a client. It sends no request. It returns CodeBadRequest for a URL that is none of a server.
func NewOnline(config Config) (*Online, error) {
	u, err := config.parse()
	if err != nil {
		return nil, err
	}
	return &Online{url: u, client: config.Client}, nil
}

// Listen recognizes one utterance in a session of its own.
func (o *Online) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, o)
}

// Open starts a session. Its errors are those of session.Dial.
func (o *Online) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	if err := session.CheckRate(h.Rate); err != nil {
		return nil, err
	}
	first, err := session.Dial(ctx, session.Endpoint{URL: o.url.String(), Client: o.client})
	if err != nil {
		return nil, err
	}
	r := &relay{server: o, conns: []session.Conn{first}, changed: make(chan struct{}, 1)}
	r.dialing, r.end = context.WithCancel(ctx)
	return session.New(ctx, r, protocol{}, h.Rate, session.Config{Rate: rate, Piece: piece})
}

// These texts mark the end of an utterance, from the client and from the server.
const (
	done     = "Done"
	answered = "Done!"
)

// relay is a connection for several utterances, because a connection of the server recognizes one. It opens the connection for the next
// utterance when an utterance ends.
type relay struct {
	server  *Online
	dialing context.Context //nolint:containedctx // of the connections, which Close ends
	end     context.CancelFunc
	changed chan struct{} // receives a token when conns or closed has changed

	mu     sync.Mutex
	conns  []session.Conn // of the utterances without an end, oldest first, and of the next utterance
	closed bool
}

// Read returns the next message of the oldest utterance.
func (r *relay) Read(ctx context.Context) (session.Message, error) {
	m, err := r.oldest().Read(ctx)
	if err != nil || !m.Text || string(m.Data) != answered {
		return m, err
	}
	for !r.advance() {
		select {
		case <-r.changed:
		case <-ctx.Done():
			return session.Message{}, ctx.Err()
		}
	}
	return m, nil
}

// oldest returns the connection of the oldest utterance.
func (r *relay) oldest() session.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conns[0]
}

// advance closes the connection of the oldest utterance. It returns false while there is no next one.
func (r *relay) advance() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return true
	}
	if len(r.conns) == 1 {
		return false
	}
	_ = r.conns[0].Close()
	r.conns = r.conns[1:]
	return true
}

// Write sends a message to the newest connection, and opens the next one after the end of an utterance.
func (r *relay) Write(ctx context.Context, m session.Message) error {
	r.mu.Lock()
	newest := r.conns[len(r.conns)-1]
	r.mu.Unlock()
	if err := newest.Write(ctx, m); err != nil || !m.Text {
		return err
	}
	next, err := session.Dial(r.dialing, session.Endpoint{URL: r.server.url.String(), Client: r.server.client})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return next.Close()
	}
	r.conns = append(r.conns, next)
	r.signal()
	return nil
}

// Close ends all connections.
func (r *relay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.end()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.signal()
	return nil
}

// signal wakes Read.
func (r *relay) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// protocol is the protocol of the streaming server.
type protocol struct{}

// Audio returns 32-bit floating point samples.
func (protocol) Audio(dst []byte, samples []int16) session.Message {
	return session.Message{Data: appendFloats(dst, samples)}
}

// appendFloats appends samples in the range from -1 to 1, in little endian order.
func appendFloats(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(s)/(1<<15)))
	}
	return dst
}

// Force ends the utterance.
func (protocol) Force() []session.Message { return []session.Message{session.Text(done)} }

// Tune returns nil, because the server knows no hints.
func (protocol) Tune(conversation.Hearing) []session.Message { return nil }

// Idle returns nil, because the server does not close idle connections.
func (protocol) Idle() []session.Message { return nil }

// Receive parses a message of the server. The server divides an utterance at its own pauses into segments.
func (protocol) Receive(m session.Message) ([]session.Event, error) {
	if m.Text && string(m.Data) == answered {
		return []session.Event{{Done: true}}, nil
	}
	text, final, ok := result(m)
	if !ok {
		return nil, nil
	}
	return []session.Event{{Text: text, Segment: final}}, nil
}

// result returns the text of a server's result, and whether it is final. ok is false for another message.
func result(m session.Message) (text string, final, ok bool) {
	var r struct {
		Text  *string `json:"text"`
		Final bool    `json:"is_final"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil || r.Text == nil {
		return "", false, false
	}
	return *r.Text, r.Final, true
}

// errAnswer reports a message that is no result.
var errAnswer = callwright.Errorf(callwright.CodeUnavailable, "the sherpa-onnx server sent a message that is no result")
