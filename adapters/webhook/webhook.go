// Package webhook sends signed messages to the URLs of organizations and makes the HTTP requests of their conversations.
// It connects to public addresses only, unless Config.AllowPrivate is set.
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
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"code.dny.dev/ssrf"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/uri"
)

// Config configures a Sender. Tenants is required.
type Config struct {
	Tenants callwright.Tenants `required:"always"` // returns the organizations' secrets

	AllowPrivate bool // permits private and loopback addresses, and plain http

	callwright.Runtime
}

// Sender sends signed messages to webhooks and makes the HTTP requests of conversations. Close releases its idle connections.
type Sender struct {
	cfg    Config
	client *http.Client // without a timeout: each request's context sets one
}

// timeout bounds the delivery of a message, from the connection to the last byte of the answer.
const timeout = 10 * time.Second

const userAgent = "callwright"

// The signature headers of a message contain the HMAC-SHA256 of its body in hexadecimal.
const (
	SignatureHeader     = "X-Webhook-Signature"      // from the current secret; during the overlap of a rotation, from the former one
	NextSignatureHeader = "X-Webhook-Signature-Next" // from the new secret; set only during the overlap
)

// New returns a Sender. It returns an error if the configuration lacks Tenants.
func New(c Config) (*Sender, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: timeout}
	if !c.AllowPrivate {
		// The dialer checks the resolved address, so that a host name cannot pass CheckURL and then resolve to a private address.
		dialer.Control = ssrf.New(ssrf.WithAnyPort()).Safe
	}
	client := &http.Client{
		Transport: transport{&http.Transport{ // no proxy, and no decompression: a small answer could expand to a large one
			DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout, MaxIdleConns: 100, IdleConnTimeout: time.Minute,
			DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		}},
		// A redirect would send the message to an address that the organization did not configure.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Sender{cfg: c, client: client}, nil
}

// transport rejects answers with status 101, because their body is the bare connection: neither a context nor a timeout interrupts a read
// from it.
type transport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper. It returns an error for an answer with status 101.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close()
		return nil, errors.New("the server wants to switch protocols")
	}
	return response, err
}

// Close closes the idle connections. It does not interrupt requests.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// CheckURL returns CodeBadRequest for a text that is no URL, or for a URL to which Send and Do cannot send: a scheme other than https (or
// http, with AllowPrivate), no host, user information, a host that is not ASCII, an invalid port or, without AllowPrivate, a private
// address. It resolves no names: the dialer checks the resolved address.
func (s *Sender) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return callwright.Invalid("", "must be a URL such as https://example.com/hook")
	}
	switch {
	case u.User != nil:
		return callwright.Invalid("", "must not contain a user name or password")
	case u.Scheme == "https", u.Scheme == "http" && s.cfg.AllowPrivate:
	case s.cfg.AllowPrivate:
		return callwright.Invalid("", "must begin with https:// or http://")
	default:
		return callwright.Invalid("", "must begin with https://")
	}
	if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > unicode.MaxASCII }) {
		return callwright.Invalid("", "must have a host in ASCII: write an international name in Punycode, such as xn--bcher-kva.example")
	}
	if strings.Contains(u.Hostname(), "%") {
		return callwright.Invalid("", "must have a host without %%: an IPv6 address must not have a zone")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return callwright.Invalid("", "must have a port from 1 to 65535")
		}
	}
	if to, err := uri.ParseDestination(u.Hostname()); err == nil && to.IsPrivateIP && !s.cfg.AllowPrivate {
		return callwright.Invalid("", "must have a public host, not a private address: only the operator can allow private addresses (the server's --allow-private)")
	}
	return nil
}

// Send posts a JSON body, signed with the organization's secret. SignatureHeader contains the HMAC-SHA256 of the body in hexadecimal, and
// the headers webhook-id, webhook-timestamp and webhook-signature follow the Standard Webhooks specification.
//
// During the overlap of a rotation, two secrets sign: webhook-signature contains both signatures, the new secret's first, as the
// specification requires. SignatureHeader still contains a single value, the signature of the former secret, which every receiver knows.
// NextSignatureHeader contains the signature of the new secret.
//
// CodeForbidden means that the receiver rejects the body permanently, or that the URL or the address of its host is not allowed. Any other
// error is temporary: retry, after the error's RetryAfter if the receiver sets one. No error contains more of the URL than its host.
func (s *Sender) Send(ctx context.Context, org callwright.OrgID, id, to string, body []byte) error {
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := s.post(timed, org, id, to, body, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	const enough = 64 << 10
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, enough))
	return refusal(response)
}

// Stream posts a JSON body, signed like those of Send, and returns the body of the answer as soon as its header has arrived. The caller must
// close it. ctx bounds the request and the body. The errors are those of Send.
func (s *Sender) Stream(ctx context.Context, org callwright.OrgID, id, to string, body []byte) (io.ReadCloser, error) {
	response, err := s.post(ctx, org, id, to, body, "application/x-ndjson")
	if err != nil {
		return nil, err
	}
	if err := refusal(response); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}

// post sends a signed body, and returns the answer with any status. accept is the header Accept; empty means none.
func (s *Sender) post(ctx context.Context, org callwright.OrgID, id, to string, body []byte, accept string) (*http.Response, error) {
	if err := s.CheckURL(to); err != nil {
		return nil, (&callwright.Error{Code: callwright.CodeForbidden, Message: "the address " + callwright.MessageOf(err)}).Because(err)
	}
	request, err := s.request(ctx, org, id, to, body)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := s.client.Do(request)
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP):
		return nil, (&callwright.Error{
			Code: callwright.CodeForbidden,
			Message: "the host of the URL has an address that is not public: " +
				"use a public host, or allow private addresses (the server's --allow-private)",
		}).Because(err)
	case err != nil:
		return nil, unavailable(ctx, timeout, err)
	}
	return response, nil
}

// refusal returns the error for the status of an answer, or nil for a status from 200 to 299.
func refusal(response *http.Response) error {
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return &callwright.Error{
			Code: callwright.CodeUnavailable, Message: fmt.Sprintf("the receiver answered with status %d", code), RetryAfter: retryAfter(response),
		}
	default:
		return callwright.Errorf(callwright.CodeForbidden, "the receiver answered with status %d, after which the message is not sent again", code)
	}
}

func (s *Sender) request(ctx context.Context, org callwright.OrgID, id, to string, body []byte) (*http.Request, error) {
	o, err := s.cfg.Tenants.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Clock.Now()
	secrets := o.WebhookSecrets(now)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		if signatures[i], err = standardSignature(secret, id, now, body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set(SignatureHeader, sum(secrets[len(secrets)-1], body))
	if len(secrets) > 1 {
		request.Header.Set(NextSignatureHeader, sum(secrets[0], body))
	}
	request.Header.Set(standardwebhooks.HeaderWebhookID, id)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return request, nil
}

// standardSignature returns the signature of a message in the format of the Standard Webhooks specification.
func standardSignature(secret callwright.Secret, id string, now time.Time, body []byte) (string, error) {
	standard, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		return "", fmt.Errorf("webhook secret: %w", err)
	}
	signature, err := standard.Sign(id, now, body)
	if err != nil {
		return "", fmt.Errorf("webhook signature: %w", err)
	}
	return signature, nil
}

// sum returns the HMAC-SHA256 of a body in hexadecimal.
func sum(secret callwright.Secret, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// longestWait bounds the Retry-After that Send accepts from a receiver.
const longestWait = time.Hour

// retryAfter returns the wait that the Retry-After header of an answer requests in seconds, at most longestWait. It returns 0 if the header
// is missing or invalid.
func retryAfter(r *http.Response) time.Duration {
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, longestWait)
}
