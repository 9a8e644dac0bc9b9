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

// Retry calls fn until it returns something other than CodeConflict, at most 8 times. A conflict means that another writer
// has changed what fn had read, so fn reads it again. Retry waits for a random time between calls, a quarter of a
// second at most in all, and stops when ctx
// ends. It returns the error of the last call. Put Retry around a transaction, so that each attempt has its own.
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
