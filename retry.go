package callwright

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The bounds of Retry. The waits add up to a quarter of a second at most.
const (
	retryAttempts = 8
	retryWait     = 2 * time.Millisecond // the longest first wait; it doubles with every attempt
)

// Retry calls fn again while it returns CodeConflict: somebody else has changed what fn read, and fn reads it anew. It
// calls fn at most 8 times, after short random waits, and not again once ctx has ended. The error is that of the last
// call. Where fn runs a transaction, Retry goes around it, so that every attempt has a transaction of its own.
func Retry(ctx context.Context, fn func(ctx context.Context) error) error {
	for attempt := range retryAttempts - 1 {
		err := fn(ctx)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		timer := time.NewTimer(rand.N(retryWait << attempt)) //nolint:gosec // spreads load, hides nothing
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			return err
		}
	}
	return fn(ctx)
}
