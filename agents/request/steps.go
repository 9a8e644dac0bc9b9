package request

import (
	"bytes"
	"context"
	"sync/atomic"
)

// MaxSteps bounds the work in one turn of a conversation on JSON from other systems and from models: reading responses, evaluating paths on
// them, and checking the arguments of tools. A step costs about 100 ns.
const MaxSteps = 4 << 20

// budget holds the remaining steps. It is safe for concurrent use.
type budget struct{ left atomic.Int64 }

func newBudget() *budget {
	b := &budget{}
	b.left.Store(MaxSteps)
	return b
}

// spend consumes steps and returns true. If fewer are left, it consumes none and returns false.
func (b *budget) spend(steps float64) bool {
	for {
		left := b.left.Load()
		if steps > float64(left) {
			return false
		}
		if b.left.CompareAndSwap(left, left-int64(steps)) {
			return true
		}
	}
}

type budgetKey struct{}

// WithBudget returns a context whose requests and tool calls share MaxSteps. Without it, each request and each tool call may use MaxSteps.
// If ctx already contains a budget, WithBudget returns ctx.
func WithBudget(ctx context.Context) context.Context {
	if _, has := ctx.Value(budgetKey{}).(*budget); has {
		return ctx
	}
	return context.WithValue(ctx, budgetKey{}, newBudget())
}

// budgetOf returns the budget of a context, or a new one if the context contains none.
func budgetOf(ctx context.Context) *budget {
	if b, has := ctx.Value(budgetKey{}).(*budget); has {
		return b
	}
	return newBudget()
}

// Spend consumes steps of the budget of ctx and returns true. If fewer are left, it consumes none and returns false.
func Spend(ctx context.Context, steps float64) bool { return budgetOf(ctx).spend(steps) }

// MostValues returns an upper bound on the number of values in a JSON text, without parsing it.
func MostValues(text []byte) int {
	return 1 + bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("["))
}

// stepsToRead estimates the steps that Decode costs for a text.
func stepsToRead(text []byte) float64 {
	n := len(text) / 8
	for _, part := range []struct {
		mark  string
		steps int
	}{{",", 3}, {"[", 3}, {":", 4}, {"{", 10}} {
		n += part.steps * bytes.Count(text, []byte(part.mark))
	}
	return float64(n)
}
