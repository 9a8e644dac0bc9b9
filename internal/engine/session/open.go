package session

import (
	"context"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// Endpoint is the address of an engine with WebSockets.
type Endpoint struct {
	URL    string
	Header http.Header  // of the request
	Client *http.Client // if nil, http.DefaultClient
}

// Open connects to an engine, sends the first messages, and starts a session. Its errors are those of Dial and New.
func Open(ctx context.Context, e Endpoint, p Protocol, h conversation.Hearing, cfg Config, first ...Message) (conversation.Stream, error) {
	if err := CheckRate(h.Rate); err != nil {
		return nil, err
	}
	conn, err := Dial(ctx, e)
	if err != nil {
		return nil, err
	}
	for _, m := range first {
		if err := conn.Write(ctx, m); err != nil {
			_ = conn.Close()
			return nil, callwright.Errorf(callwright.CodeUnavailable, "the connection to the speech service has ended: %w", err)
		}
	}
	return New(ctx, conn, p, h.Rate, cfg)
}

// Text returns a text message.
func Text(s string) Message { return Message{Text: true, Data: []byte(s)} }
