package platform

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestFollowReadiness checks that SIP receives the state of /readyz within a period, even if a check does not return.
func TestFollowReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var told []bool
		checks := []func(context.Context) error{
			func(context.Context) error { return errors.New("starting") }, // SIP is not notified of failures before the first success
			func(context.Context) error { return nil },
			func(context.Context) error { return errors.New("disk full") },
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			func(context.Context) error { return nil },
			func(ctx context.Context) error { cancel(); return ctx.Err() },
		}
		began := time.Now()
		followReadiness(ctx, func(ctx context.Context) error {
			check := checks[0]
			checks = checks[1:]
			return check(ctx)
		}, func(ready bool) { told = append(told, ready) })
		if !slices.Equal(told, []bool{true, false, false, true}) || time.Since(began) > 5*readinessPeriod {
			t.Errorf("told %v within %s", told, time.Since(began))
		}
	})
}
