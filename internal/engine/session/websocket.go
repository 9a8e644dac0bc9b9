package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// maxMessage is the maximum size of a message of an engine, in bytes.
const maxMessage = 1 << 20

// dialTime bounds the start of a connection.
const dialTime = 10 * time.Second

// Dial connects to an engine by WebSocket (RFC 6455). A refusal of the engine is a *callwright.Error: CodeTooManyRequests for the status 429,
// and otherwise CodeUnavailable.
func Dial(ctx context.Context, e Endpoint) (Conn, error) {
	limited, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	//nolint:bodyclose // the package closes the body, and returns it read
	conn, response, err := websocket.Dial(limited, e.URL, &websocket.DialOptions{HTTPHeader: e.Header, HTTPClient: e.Client})
	switch {
	case err == nil:
		conn.SetReadLimit(maxMessage)
		return socket{conn}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case response == nil:
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech service cannot be reached: %w", withoutURL(err))
	default:
		return nil, refused(response)
	}
}

// refused returns the error for a response that is no upgrade. It does not contain the service's text, which can quote the key.
func refused(response *http.Response) error {
	reason := "answered with the status " + strconv.Itoa(response.StatusCode)
	e := &callwright.Error{Code: callwright.CodeUnavailable}
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		reason = "refuses the key"
	case http.StatusPaymentRequired:
		reason = "refuses the account, whose quota is used up"
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		reason = "refuses the address, the model or a setting"
	case http.StatusTooManyRequests:
		e.Code, reason = callwright.CodeTooManyRequests, "limits the number of sessions"
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds < 3600 {
			e.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	e.Message = "the speech service " + reason
	return e.Because(Status(response.StatusCode))
}

// Status is the HTTP status of a refusal. It is the cause of the error of Dial.
type Status int

// Error returns the status as text.
func (s Status) Error() string { return "status " + strconv.Itoa(int(s)) }

// errDial replaces errors whose text contains the address with its query, where some services expect the key.
var errDial = errors.New("no connection")

func withoutURL(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return errDial
}

// socket is a Conn over a WebSocket.
type socket struct{ conn *websocket.Conn }

// Read returns the next message. The error of a connection that the engine has closed contains the close code, without the engine's text.
func (s socket) Read(ctx context.Context) (Message, error) {
	kind, data, err := s.conn.Read(ctx)
	if code := websocket.CloseStatus(err); code >= 0 {
		err = fmt.Errorf("closed with the code %d", code)
	}
	return Message{Text: kind == websocket.MessageText, Data: data}, err
}

// Write sends a message.
func (s socket) Write(ctx context.Context, m Message) error {
	kind := websocket.MessageBinary
	if m.Text {
		kind = websocket.MessageText
	}
	return s.conn.Write(ctx, kind, m.Data)
}

// Close ends the connection without a handshake.
func (s socket) Close() error { return s.conn.CloseNow() }

// ParseURL parses the base URL of a service, whose scheme may be ws, wss, http or https. It returns CodeBadRequest for another URL, or one
// with a user.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"ws", "wss", "http", "https"}, u.Scheme) || u.Host == "" || u.User != nil {
		return nil, callwright.Invalid("base_url", "must be a wss, ws, https or http URL without a user name")
	}
	return u, nil
}

// CheckRate returns CodeBadRequest for a sample rate that pcm cannot convert.
func CheckRate(rate int) error {
	_, err := pcm.NewResampler(rate, rate)
	return err
}
