package callwright

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The bounds of Retry. All waits together take at most a quarter of a second.
const (
	retryAttempts = 8
	retryWait     = 2 * time.Millisecond // the longest first wait; it doubles with every attempt
)

// Retry calls fn until its result is not CodeConflict, at most 8 times. A conflict means that another writer has changed data that
// fn had read, so fn reads it again. Retry waits for a random time between calls, at most a quarter of a second in all, and stops
// when ctx ends. It returns the error of the last call. Put Retry around a transaction, so that each attempt has a new one.
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
