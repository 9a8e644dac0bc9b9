package sherpaserver

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/session"
)

// Offline recognizes speech with the server for whole utterances. It implements conversation.Recognizer. The language is that of the server's
// model.
type Offline struct {
	url    *url.URL
	client *http.Client
}

var _ conversation.Recognizer = (*Offline)(nil)

// NewOffline checks the configuration and returns a client. It sends no request. It returns CodeBadRequest for a URL that is none of a
// server.
func NewOffline(config Config) (*Offline, error) {
	u, err := config.parse()
	if err != nil {
		return nil, err
	}
	return &Offline{url: u, client: config.Client}, nil
}

const (
	maxUtterance = 5 * time.Minute  // longer utterances are cut off, as the server refuses them
	patience     = 30 * time.Second // for the text of an utterance
	header       = 8                // bytes before the samples: their rate and their size in bytes
)

// Listen starts an utterance. Its audio is sent when it finishes.
func (o *Offline) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return engine.Listen(ctx, h.Rate, engine.Ear{Rate: rate, Longest: maxUtterance, Recognize: func(ctx context.Context, audio []int16) (string, error) {
		if engine.Faint(audio) {
			return "", ctx.Err()
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		text, err := o.recognize(limited, audio)
		switch {
		case err == nil:
			return engine.WithoutMarks(text), nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		default:
			return "", err
		}
	}})
}

// recognize sends an utterance and returns its text.
func (o *Offline) recognize(ctx context.Context, audio []int16) (string, error) {
	conn, err := session.Dial(ctx, session.Endpoint{URL: o.url.String(), Client: o.client})
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	data := binary.LittleEndian.AppendUint32(make([]byte, 0, header+4*len(audio)), rate)
	data = binary.LittleEndian.AppendUint32(data, uint32(4*len(audio)))
	if err := conn.Write(ctx, session.Message{Data: appendFloats(data, audio)}); err != nil {
		return "", unavailable(err)
	}
	m, err := conn.Read(ctx)
	if err != nil {
		return "", unavailable(err)
	}
	text, _, ok := result(m)
	if !ok {
		return "", errAnswer
	}
	_ = conn.Write(ctx, session.Text(done)) // the server then closes the connection; Close does it in any case
	return text, nil
}

// unavailable returns the error of a connection that has ended.
func unavailable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return callwright.Errorf(callwright.CodeUnavailable, "the sherpa-onnx server returned no text in time")
	}
	return callwright.Errorf(callwright.CodeUnavailable, "the connection to the sherpa-onnx server has ended: %w", err)
}
