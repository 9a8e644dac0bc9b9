package bunstore_test

import (
	"context"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
)

// useLeases calls every method of Leases and returns their errors.
func useLeases(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	leases := bunstore.Leases{DB: db}
	_, acquireErr := leases.Claim(ctx, "k", "n", []string{"a", "b"}, now, now)
	_, renewErr := leases.Renew(ctx, "k", "n", now, now)
	_, heldErr := leases.Held(ctx, "k", now, 10)
	_, expiredErr := leases.Expired(ctx, "k", now, 10)
	return []error{acquireErr, renewErr, heldErr, expiredErr, leases.Release(ctx, "k", "n", []string{"a", "b"})}
}
