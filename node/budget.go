package node

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// budgetRetry is the RetryAfter of the error for a full Budget.
const budgetRetry = 2 * time.Second

// Budget limits the use of a resource such as memory, in total and by each user. Set its fields before the first Claim.
type Budget struct {
	Total int64         // limit of all users together
	Share int64         // limit of each user, such as an organization; 0 means Total
	Wait  time.Duration // longest wait of a Claim
	Busy  string        // error message after Wait

	mu      sync.Mutex
	used    int64
	by      map[string]int64 // claimed amounts by user; contains no zeros
	waiting []*budgetWaiter  // in the order of their calls of Claim
}

type budgetWaiter struct {
	user    string
	amount  int64
	granted chan struct{} // closed when the amount is claimed
}

// Claim claims an amount for a user, or the user's share if the amount exceeds the share. release returns the amount to the budget;
// repeated calls have no effect. If the budget or the user's share is full, Claim waits. While a Claim waits for the budget, all later
// calls wait behind it. Claim returns CodeUnavailable with a RetryAfter if the amount does not become available within Wait, and the cause
// of ctx if ctx ends first. Every waiting Claim blocks its caller, so callers must limit how many wait.
func (b *Budget) Claim(ctx context.Context, user string, amount int64) (release func(), err error) {
	w := &budgetWaiter{user: user, amount: min(amount, b.share()), granted: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	b.grant()
	b.mu.Unlock()
	select { // no timer for an immediate grant
	case <-w.granted:
		return sync.OnceFunc(func() { b.release(w) }), nil
	default:
	}
	timer := time.NewTimer(b.Wait)
	defer timer.Stop()
	select {
	case <-w.granted:
	case <-timer.C:
		err = &callwright.Error{Code: callwright.CodeUnavailable, Message: b.Busy, RetryAfter: budgetRetry}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil && b.abandon(w) {
		return nil, err
	}
	return sync.OnceFunc(func() { b.release(w) }), nil
}

func (b *Budget) share() int64 { return min(cmp.Or(b.Share, b.Total), b.Total) }

// grant claims the amounts of waiting callers in order, as far as the budget allows. The caller must hold the lock.
func (b *Budget) grant() {
	if b.by == nil {
		b.by = map[string]int64{}
	}
	full := false
	b.waiting = slices.DeleteFunc(b.waiting, func(w *budgetWaiter) bool {
		if full || b.by[w.user]+w.amount > b.share() {
			return false
		}
		if full = b.used+w.amount > b.Total; full { // later claims wait behind it, because they could delay a large claim forever
			return false
		}
		b.used += w.amount
		b.by[w.user] += w.amount
		close(w.granted)
		return true
	})
}

// abandon ends the wait of w. It returns false if the amount has been claimed meanwhile.
func (b *Budget) abandon(w *budgetWaiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, w)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.grant()
	return true
}

func (b *Budget) release(w *budgetWaiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= w.amount
	if b.by[w.user] -= w.amount; b.by[w.user] == 0 {
		delete(b.by, w.user)
	}
	b.grant()
}
