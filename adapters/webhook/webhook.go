// Package webhook sends signed messages to the URLs that organizations give, and makes the requests of their
// conversations; to nowhere else than the public Internet unless it is told that private addresses are fine.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"code.dny.dev/ssrf"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/uri"
)

// Config is what a Sender needs.
type Config struct {
	Tenants      callwright.Tenants // knows the organizations' secrets
	AllowPrivate bool               // private and loopback addresses may be sent to, and plain http is allowed
	Clock        callwright.Clock   // nil: the machine's
	Logger       *slog.Logger       // nil: discards
}

// Sender sends messages, and makes the requests of conversations.
type Sender struct {
	Config
	client   *http.Client // of messages
	requests *http.Client // of conversations, each with its own time
}

// Each message has this long to be taken, from the connection to the last byte of the answer.
const timeout = 10 * time.Second

const userAgent = "callwright"

// New checks the configuration.
func New(c Config) (*Sender, error) {
	if c.Tenants == nil {
		return nil, errors.New("webhook: Tenants is required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	dialer := &net.Dialer{Timeout: timeout}
	if !c.AllowPrivate {
		// Checked when the connection is made, so that a name whose address changes meanwhile gains nothing.
		dialer.Control = ssrf.New(ssrf.WithAnyPort()).Safe
	}
	requests := &http.Client{
		Transport: transport{&http.Transport{ // no proxy, and nothing is unpacked: a small answer may be a large one then
			DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout, MaxIdleConns: 100, IdleConnTimeout: time.Minute,
			DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		}},
		// A redirect would have the record sent to an address that nobody has named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	messages := *requests
	messages.Timeout = timeout
	return &Sender{Config: c, client: &messages, requests: requests}, nil
}

// transport takes no answer 101: its body is the bare connection, which no context and no timeout ends.
type transport struct{ *http.Transport }

// RoundTrip is that of http.Transport.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close()
		return nil, errors.New("the server wants to switch protocols")
	}
	return response, err
}

// Close lets go of idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// CheckURL refuses what can't be sent to. Names are not resolved: that is for the moment of sending.
func (s *Sender) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return callwright.Invalid("", "must be a URL such as https://example.com/hook")
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && s.AllowPrivate) {
		return callwright.Invalid("", "must begin with https://")
	}
	if to, err := uri.ParseDestination(u.Hostname()); err == nil && to.IsPrivateIP && !s.AllowPrivate {
		return callwright.Invalid("", "must not be a private address")
	}
	return nil
}

// Send posts a JSON body, signed with the organization's secret: X-Webhook-Signature is the HMAC-SHA256 of the body in
// hexadecimal, and the webhook-id, -timestamp and -signature headers follow the Standard Webhooks specification. An
// error means that it should be sent again, after RetryAfter where the receiver says so. A receiver that refuses it for
// good is logged.
func (s *Sender) Send(ctx context.Context, org callwright.OrgID, id, to string, body []byte) error {
	if err := s.CheckURL(to); err != nil {
		s.Logger.WarnContext(ctx, "webhook not sent", "id", id, "error", err)
		return nil
	}
	request, err := s.request(ctx, org, id, to, body)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL, which is for its owner's eyes: many hold a secret
		}
		return callwright.Errorf(callwright.CodeUnavailable, "webhook: %w", err)
	}
	defer response.Body.Close()
	const enough = 64 << 10
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, enough))
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return &callwright.Error{
			Code: callwright.CodeUnavailable, Message: fmt.Sprintf("webhook: answered %d", code), RetryAfter: retryAfter(response),
		}
	default:
		s.Logger.WarnContext(ctx, "webhook refused", "id", id, "status", code)
		return nil
	}
}

func (s *Sender) request(ctx context.Context, org callwright.OrgID, id, to string, body []byte) (*http.Request, error) {
	o, err := s.Tenants.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	now := s.Clock.Now()
	standard, err := standardwebhooks.NewWebhook(o.WebhookSecret.Reveal())
	if err != nil {
		return nil, fmt.Errorf("webhook secret: %w", err)
	}
	signature, err := standard.Sign(id, now, body)
	if err != nil {
		return nil, fmt.Errorf("webhook signature: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	mac := hmac.New(sha256.New, []byte(o.WebhookSecret.Reveal()))
	mac.Write(body)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("X-Webhook-Signature", hex.EncodeToString(mac.Sum(nil)))
	request.Header.Set(standardwebhooks.HeaderWebhookID, id)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return request, nil
}

// longestWait bounds what a receiver may ask for.
const longestWait = time.Hour

// retryAfter is what the receiver asks for in seconds; 0 when it does not.
func retryAfter(r *http.Response) time.Duration {
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, longestWait)
}
