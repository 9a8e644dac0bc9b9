package engine

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/callwright/callwright/agents/llm"
)

// Limit bounds the usage of models. The zero Limit is unlimited.
type Limit struct {
	Tokens int   // 0: any number
	Cost   Money // 0: any; it does not bound calls with an unknown price
}

// Money is an amount in billionths of the currency in which a Pricer states prices.
type Money int64

// Amount returns the money in the currency itself.
func (m Money) Amount() float64 { return float64(m) / moneyUnit }

// String returns the money in the currency itself, with as few digits as possible.
func (m Money) String() string { return strconv.FormatFloat(m.Amount(), 'f', -1, 64) }

// MoneyOf returns an amount as Money; false if it is negative, not a number or larger than MaxAmount.
func MoneyOf(amount float64) (Money, bool) {
	if math.IsNaN(amount) || amount < 0 || amount > MaxAmount {
		return 0, false
	}
	return Money(math.Round(amount * moneyUnit)), true
}

const moneyUnit = 1e9

// MaxAmount is the largest amount of MoneyOf.
const MaxAmount = 1e9

// Pricer returns the cost of a model's call, in the currency of the program; false if the price of the model is unknown. It is
// called before a call, with estimated tokens, and after it. It is safe for concurrent use.
type Pricer func(model string, u llm.Usage) (price float64, known bool)

// of returns the price of tokens as Money.
func (p Pricer) of(model string, u llm.Usage) (Money, bool) {
	if p == nil {
		return 0, false
	}
	price, known := p(model, u)
	if !known {
		return 0, false
	}
	return MoneyOf(price)
}

// Spend returns the usage of one answered call of a model.
func (p Pricer) Spend(model string, u llm.Usage) Spend {
	s := Spend{Tokens: u.Input + u.Output, Unpriced: 1}
	if cost, known := p.of(model, u); known && u != (llm.Usage{}) {
		s.Cost, s.Priced, s.Unpriced = cost, 1, 0
	}
	return s
}

// Spend is the usage of calls of models.
type Spend struct {
	Tokens   int   // counted by the models; estimated for calls without counts
	Cost     Money // of calls with a known price; estimated for estimated tokens
	Priced   int   // calls with an exactly known price
	Unpriced int   // other calls
}

// Plus returns the sum of both.
func (s Spend) Plus(t Spend) Spend {
	return Spend{s.Tokens + t.Tokens, s.Cost + t.Cost, s.Priced + t.Priced, s.Unpriced + t.Unpriced}
}

// less returns the difference of s and t.
func (s Spend) less(t Spend) Spend {
	return Spend{s.Tokens - t.Tokens, s.Cost - t.Cost, s.Priced - t.Priced, s.Unpriced - t.Unpriced}
}

// Price returns the cost of all calls; false if one of their prices is unknown, or without calls.
func (s Spend) Price() (Money, bool) { return s.Cost, s.Priced > 0 && s.Unpriced == 0 }

// Exhausts reports whether nothing is left of a limit.
func (s Spend) Exhausts(l Limit) bool {
	return l.Tokens > 0 && s.Tokens >= l.Tokens || l.Cost > 0 && s.Cost >= l.Cost
}

// within reports whether it is within a limit.
func (s Spend) within(l Limit) bool {
	return (l.Tokens == 0 || s.Tokens <= l.Tokens) && (l.Cost == 0 || s.Cost <= l.Cost)
}

// Budget bounds the tokens and the cost of one run or of many. It is safe for concurrent use.
//
// The possible usage of a call is reserved before it, and accounted after it, so that concurrent calls cannot spend the same
// tokens. A call that fits only if others use less than reserved waits for them. A call without counted tokens is accounted with
// its estimate. Paid calls are never refused: a call may use more than reserved, and overdraws the Budget only by this excess.
type Budget struct {
	mu       sync.Mutex
	limit    Limit
	before   Spend // see Account
	used     Spend
	reserved Spend
	refused  bool
	changed  chan struct{} // closed when a call is accounted; nil: no call waits
	parent   *Budget
}

// NewBudget returns a budget. Its spending also counts in the parent; nil: none.
func NewBudget(l Limit, parent *Budget) *Budget { return &Budget{limit: l, parent: parent} }

// Used returns the used part of this budget, without the amounts given to Account.
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

// Account updates a budget shared with other processes: total is the current sum of all processes, stored elsewhere, including
// ended, the usage of ended runs here. The budget no longer counts the latter itself.
func (b *Budget) Account(total, ended Spend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.used = total, b.used.less(ended)
	b.wakeCalls()
}

// boundsCost reports whether the budget, or one above it, has a cost limit.
func (b *Budget) boundsCost() bool {
	for ; b != nil; b = b.parent {
		if b.limit.Cost > 0 {
			return true
		}
	}
	return false
}

// wakeCalls wakes waiting calls. b.mu is held.
func (b *Budget) wakeCalls() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// shortage is the error of a call that does not fit into a budget. It is errBudget.
type shortage struct {
	limit      Limit
	used, next Spend // used before, and to reserve for the call
	shared     bool  // used by several runs
}

// Error names the exceeded limit, with its numbers.
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

// Is reports whether it is errBudget.
func (s *shortage) Is(target error) bool { return target == errBudget }

// UsedUp returns the message of a budget whose rest is too small for another call, with its numbers. by names the spender.
func (l Limit) UsedUp(used Spend, by string) string {
	return l.usedUp(Spend{Tokens: math.MaxInt, Cost: math.MaxInt64}, used, by)
}

// usedUp names the limits that with exceeds.
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

// reserve reserves the possible usage of a call. The error is errBudget if the rest is too small, or wraps the error of ctx.
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

// account replaces the reserved usage by the actual one.
func (b *Budget) account(reserved, used Spend) {
	for ; b != nil; b = b.parent {
		b.mu.Lock()
		b.reserved, b.used = b.reserved.less(reserved), b.used.Plus(used)
		b.wakeCalls()
		b.mu.Unlock()
	}
}
