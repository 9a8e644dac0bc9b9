package engine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

// Limit is the maximum usage of models. The zero Limit is unlimited.
type Limit struct {
	Tokens int   // 0 means no limit
	Cost   Money // 0 means no limit; calls with an unknown price are not limited
}

// Money is an amount of money.
type Money = price.Money

// Pricer returns the cost of a call of the model with a Model.Name. known is false if the price of the model is unknown. The engine calls
// it before a model call with estimated tokens, and again after the call. It must be safe for concurrent use. price.Table.Cost is a Pricer.
type Pricer func(model string, u llm.Usage) (cost Money, known bool)

// of returns the cost of a call, or false if the cost is unknown. p may be nil.
func (p Pricer) of(model string, u llm.Usage) (Money, bool) {
	if p == nil {
		return 0, false
	}
	if cost, known := p(model, u); known {
		return cost, true
	}
	return 0, false
}

// Spend returns the usage of one answered model call with its cost, if known.
func (p Pricer) Spend(model string, u llm.Usage) Spend {
	s := Spend{Tokens: u.Input + u.Output, Unpriced: 1}
	if cost, known := p.of(model, u); known && u != (llm.Usage{}) {
		s.Cost, s.Priced, s.Unpriced = cost, 1, 0
	}
	return s
}

// Spend is the usage of model calls.
type Spend struct {
	Tokens   int   // reported by the models; estimated for calls without reported tokens
	Cost     Money // cost of calls with a known price; estimated for estimated tokens
	Priced   int   // number of calls with an exactly known price
	Unpriced int   // number of other calls
}

// Plus returns the sum of s and t.
func (s Spend) Plus(t Spend) Spend {
	return Spend{s.Tokens + t.Tokens, s.Cost + t.Cost, s.Priced + t.Priced, s.Unpriced + t.Unpriced}
}

// less returns s minus t.
func (s Spend) less(t Spend) Spend {
	return Spend{s.Tokens - t.Tokens, s.Cost - t.Cost, s.Priced - t.Priced, s.Unpriced - t.Unpriced}
}

// Price returns the cost of all calls. It returns false if the price of a call is unknown, or if there are no calls.
func (s Spend) Price() (Money, bool) { return s.Cost, s.Priced > 0 && s.Unpriced == 0 }

// Exhausts reports whether s leaves nothing of a limit.
func (s Spend) Exhausts(l Limit) bool {
	return l.Tokens > 0 && s.Tokens >= l.Tokens || l.Cost > 0 && s.Cost >= l.Cost
}

// within reports whether s does not exceed a limit.
func (s Spend) within(l Limit) bool {
	return (l.Tokens == 0 || s.Tokens <= l.Tokens) && (l.Cost == 0 || s.Cost <= l.Cost)
}

// Budget limits the tokens and the cost of one or more runs. It is safe for concurrent use.
//
// The possible usage of a call is reserved before the call and replaced by the actual usage after it, so that concurrent calls cannot spend
// the same tokens. A call waits if it fits only after others have used less than reserved. A call without reported tokens is accounted with
// its estimate. The result of a paid call is never refused: if a call uses more than was reserved, it overdraws the Budget by the excess.
type Budget struct {
	mu       sync.Mutex
	limit    Limit
	before   Spend // usage of other processes and ended runs: see Account
	used     Spend
	reserved Spend
	refused  bool
	changed  chan struct{} // closed when a call is accounted; nil if no call waits
	parent   *Budget
}

// NewBudget returns a budget. Its spending also counts in the parent, which may be nil.
func NewBudget(l Limit, parent *Budget) *Budget { return &Budget{limit: l, parent: parent} }

// Used returns the usage of this budget, without the sums passed to Account.
func (b *Budget) Used() Spend {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Refused reports whether a call was refused because it did not fit.
func (b *Budget) Refused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Account updates a budget that is shared with other processes. total is the stored spending of all processes. It includes ended, the
// spending of runs that ended in this process. Account subtracts ended from the budget's own usage, so that this spending counts once.
func (b *Budget) Account(total, ended Spend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.used = total, b.used.less(ended)
	b.wakeCalls()
}

// boundsCost reports whether the budget or one of its ancestors has a cost limit.
func (b *Budget) boundsCost() bool {
	for ; b != nil; b = b.parent {
		if b.limit.Cost > 0 {
			return true
		}
	}
	return false
}

// wakeCalls wakes the waiting calls. The caller must hold b.mu.
func (b *Budget) wakeCalls() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// shortage is the error of a call that does not fit into a budget. It matches errBudget.
type shortage struct {
	limit      Limit
	used, next Spend // usage before the call, and the usage to reserve for it
	shared     bool  // the limit is shared by several runs
}

// Error returns a message for clients that states the exceeded limit with its numbers.
func (s *shortage) Error() string {
	by := ""
	if s.shared {
		by = "by all runs together"
	}
	next := fmt.Sprintf("use %d tokens", s.next.Tokens)
	if s.limit.Tokens == 0 || s.used.Tokens+s.next.Tokens <= s.limit.Tokens {
		next = "cost " + s.next.Cost.String()
	}
	return s.limit.usedUp(s.used.Plus(s.next), s.used, by) + ": the next call of a model may " + next + "; start again with a larger budget"
}

// Is reports whether target is errBudget.
func (s *shortage) Is(target error) bool { return target == errBudget }

// UsedUp returns the message for a budget whose remainder is too small for another call, with its numbers. by names the spender, and may be
// empty.
func (l Limit) UsedUp(used Spend, by string) string {
	return l.usedUp(Spend{Tokens: math.MaxInt, Cost: math.MaxInt64}, used, by)
}

// usedUp returns the message about the limits that the first usage exceeds. The message states the second usage.
func (l Limit) usedUp(with, used Spend, by string) string {
	var parts []string
	if l.Tokens > 0 && with.Tokens > l.Tokens {
		parts = append(parts, fmt.Sprintf("%d of %d tokens", used.Tokens, l.Tokens))
	}
	if l.Cost > 0 && with.Cost > l.Cost {
		parts = append(parts, fmt.Sprintf("cost %s of %s", used.Cost, l.Cost))
	}
	if by != "" {
		parts = append(parts, by)
	}
	return "the budget is used up (" + strings.Join(parts, ", ") + ")"
}

// reserve reserves the possible usage of a call in the budget and its ancestors. It returns an error that matches errBudget if too little
// is left, or an error that wraps the error of ctx.
func (b *Budget) reserve(ctx context.Context, s Spend) error {
	if b == nil {
		return nil
	}
	if err := b.parent.reserve(ctx, s); err != nil {
		return err
	}
	err := b.reserveHere(ctx, s)
	if err != nil {
		b.parent.account(s, Spend{})
	}
	return err
}

func (b *Budget) reserveHere(ctx context.Context, s Spend) error {
	for {
		b.mu.Lock()
		used := b.before.Plus(b.used).Plus(s)
		switch {
		case used.Plus(b.reserved).within(b.limit):
			b.reserved = b.reserved.Plus(s)
			b.mu.Unlock()
			return nil
		case !used.within(b.limit):
			b.refused = true
			b.mu.Unlock()
			return &shortage{limit: b.limit, used: b.before.Plus(b.used), next: s}
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return over(ctx)
		}
	}
}

// account replaces reserved usage by the actual usage, in the budget and its ancestors.
func (b *Budget) account(reserved, used Spend) {
	for ; b != nil; b = b.parent {
		b.mu.Lock()
		b.reserved, b.used = b.reserved.less(reserved), b.used.Plus(used)
		b.wakeCalls()
		b.mu.Unlock()
	}
}
