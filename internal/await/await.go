// Package await waits for conditions in tests. It polls a condition until the condition holds or a time limit passes. The limit is far
// longer than any healthy run.
package await

import (
	"context"
	"testing"
	"time"
)

// Limit is how long the function That waits for a condition. Only a broken run comes near it.
const Limit = 90 * time.Second

// interval is the time between two checks of a condition.
const interval = 40 * time.Millisecond

// That waits until a condition holds, and fails the test if it does not hold within Limit. The parameter what completes the message
// "waiting for ...".
func That(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Within(t.Context(), Limit, holds) {
		t.Fatalf("waiting for %s: it did not come about in %v", what, Limit)
	}
}

// Within waits until a condition holds. It reports whether the condition held before ctx ended or limit passed.
func Within(ctx context.Context, limit time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return holds()
		case <-ticker.C:
		}
	}
	return true
}
