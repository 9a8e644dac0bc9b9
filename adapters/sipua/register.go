package sipua

import (
	"context"
	"time"

	"github.com/callwright/callwright/sip/registration"
)

var _ registration.Line = (*UA)(nil)

// Register creates or refreshes a trunk's binding and returns its duration: see registration.Line.
func (u *UA) Register(ctx context.Context, b registration.Binding) (time.Duration, error) {
	return u.bindings.Register(ctx, b)
}

// Unregister deletes a trunk's binding: see registration.Line.
func (u *UA) Unregister(ctx context.Context, trunkID string) { u.bindings.Unregister(ctx, trunkID) }
