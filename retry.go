package callwright

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The limits of Retry. All waits together are at most 254 ms.
const (
	retryAttempts = 8
	retryWait     = 2 * time.Millisecond // maximum of the first wait; it doubles with every attempt
)

// Retry calls fn until fn returns nil or an error other than CodeConflict, at most 8 times. A conflict means that another writer has
// changed data that fn read, so fn must read the data again. Retry waits for a random time between calls, at most 254 ms in total, and
// stops when ctx is canceled. It returns the result of the last call. Put Retry around a transaction, so that each attempt runs in a new
// transaction.
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
