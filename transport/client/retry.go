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

// Retry bounds the attempts at a request. GET and HEAD are repeated, and requests with an Idempotency-Key, when no answer came and
// when the answer is 429, 502 or 503. The wait is Retry-After, or else doubles with each attempt, with jitter.
type Retry struct {
	Tries   int           // the first included, 1 to 10; 0: 4
	First   time.Duration // the longest first wait; 0: 250 ms
	Longest time.Duration // the longest wait without a Retry-After; 0: 8 seconds
	Total   time.Duration // of all waits; a Retry-After beyond it is not waited for. 0: 30 seconds
}

const maxTries = 10

func (r Retry) withDefaults() (Retry, error) {
	if r.Tries < 0 || r.Tries > maxTries || r.First < 0 || r.Longest < 0 || r.Total < 0 {
		return r, fmt.Errorf("client: Config.Retry: Tries must be 0 to %d, and no time may be negative", maxTries)
	}
	r.Tries = orElse(r.Tries, 4)
	r.First = orElse(r.First, 250*time.Millisecond)
	r.Longest = orElse(r.Longest, 8*time.Second)
	r.Total = orElse(r.Total, 30*time.Second)
	return r, nil
}

// idempotencyKey is the header under which a server repeats its first answer.
const idempotencyKey = "Idempotency-Key"

// repeatable reports whether a request may be sent twice.
func repeatable(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get(idempotencyKey) != ""
	return safe && (r.Body == nil || r.Body == http.NoBody || r.GetBody != nil)
}

// retryable reports whether a status asks for another try.
func retryable(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable
}

// passing reports whether the cause of a missing answer may be temporary. An absent name and a wrong certificate are permanent.
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

// errNoAnswer is in the chain of errors of requests that no whole answer came to.
var errNoAnswer = errors.New("no answer")

// withRetry calls try until it succeeds, fails permanently, or the bounds are reached. It returns the result of the last call.
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
			return nil, callwright.Errorf(callwright.CodeUnavailable, "the wait for another try was interrupted: %w", interrupted).
				Because(errors.Join(interrupted, err))
		}
	}
}

// pause waits. It returns why ctx ended if that came first.
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
