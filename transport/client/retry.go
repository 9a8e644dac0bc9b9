package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/callwright/callwright"
)

// Retry configures how often a request is tried. GET and HEAD requests, and requests with an Idempotency-Key, are retried after the
// statuses 429, 502 and 503, and if there was no complete answer, unless the host name is unknown or the certificate invalid. The wait is
// Retry-After, or else doubles with each try, with jitter.
type Retry struct {
	Tries   int           // 1 to 10, including the first one; default 4
	First   time.Duration // maximum wait after the first try; default 250 ms
	Longest time.Duration // maximum wait without a Retry-After; default 8 seconds
	Total   time.Duration // maximum of all waits together, including Retry-After; default 30 seconds
}

const maxTries = 10

func (r Retry) withDefaults() (Retry, error) {
	if r.Tries < 0 || r.Tries > maxTries || r.First < 0 || r.Longest < 0 || r.Total < 0 {
		return r, fmt.Errorf("client: Config.Retry: Tries must be from 0 to %d, and no duration may be negative", maxTries)
	}
	r.Tries = orElse(r.Tries, 4)
	r.First = orElse(r.First, 250*time.Millisecond)
	r.Longest = orElse(r.Longest, 8*time.Second)
	r.Total = orElse(r.Total, 30*time.Second)
	return r, nil
}

// idempotencyKey is the header by which a server recognizes a repeated request.
const idempotencyKey = "Idempotency-Key"

// repeatable reports whether a request may be sent more than once: its method is GET or HEAD, or it has an Idempotency-Key, and its body
// can be read again.
func repeatable(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get(idempotencyKey) != ""
	return safe && (r.Body == nil || r.Body == http.NoBody || r.GetBody != nil)
}

// retryable reports whether a request may be retried after a status.
func retryable(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable
}

// passing reports whether the cause of an error may be temporary. An unknown host name and an invalid certificate are permanent.
func passing(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return retryable(e.Status)
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	return errors.Is(err, errNoAnswer)
}

// errNoAnswer is wrapped by the errors of requests without a complete answer.
var errNoAnswer = errors.New("no answer")

// withRetry calls the function try once or, if repeat is set, several times: until a call succeeds, a call fails permanently, or a limit of
// Config.Retry is reached. It returns the result of the last call. If ctx ends during a wait, the error wraps the cause and the last call's
// error.
func (c *Client) withRetry(ctx context.Context, repeat bool, try func() (*http.Response, error)) (*http.Response, error) {
	var waited time.Duration
	for n := 1; ; n++ {
		resp, err := try()
		if err == nil || !repeat || n >= c.cfg.Retry.Tries || !passing(err) {
			return resp, err
		}
		wait := c.draw.spread(min(c.cfg.Retry.First<<(n-1), c.cfg.Retry.Longest))
		if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
			wait = e.RetryAfter
		}
		if waited += wait; waited > c.cfg.Retry.Total {
			return nil, err
		}
		if interrupted := pause(ctx, wait); interrupted != nil {
			return nil, callwright.Errorf(callwright.CodeUnavailable, "the wait before the next attempt was interrupted: %w", interrupted).
				Because(errors.Join(interrupted, err))
		}
	}
}

// pause blocks for the duration wait. If ctx ends first, it returns the cause.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
