package node

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// budgetRetry is the RetryAfter of a full Budget.
const budgetRetry = 2 * time.Second

// Budget bounds a resource in use, such as memory: in total, and by one user. Set its fields before the first Claim.
type Budget struct {
	Total int64         // of all users together
	Share int64         // of one user, such as an organization; 0: Total
	Wait  time.Duration // maximum wait of Claim
	Busy  string        // message of the error after Wait

	mu      sync.Mutex
	used    int64
	by      map[string]int64 // of used, by users that have any
	waiting []*budgetWaiter  // in the order of their Claim
}

type budgetWaiter struct {
	user    string
	amount  int64
	granted chan struct{} // closed when it has its amount
}

// Claim takes an amount for a user, and returns the function that gives it back, which may be called twice. An amount beyond
// the user's share is taken as the whole share. While there is no room Claim waits: it comes before those that called later,
// unless only its own user's share is full. CodeUnavailable, with RetryAfter: there was no room within Wait. Every waiting
// Claim occupies its caller, so callers bound how many wait.
func (b *Budget) Claim(ctx context.Context, user string, amount int64) (release func(), err error) {
	w := &budgetWaiter{user: user, amount: min(amount, b.share()), granted: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	b.grant()
	b.mu.Unlock()
	select { // an immediate grant needs no timer
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

// grant serves waiting callers while there is room. The caller holds the lock.
func (b *Budget) grant() {
	if b.by == nil {
		b.by = map[string]int64{}
	}
	full := false
	b.waiting = slices.DeleteFunc(b.waiting, func(w *budgetWaiter) bool {
		if full || b.by[w.user]+w.amount > b.share() {
			return false
		}
		if full = b.used+w.amount > b.Total; full { // no other request overtakes it, because large ones would wait for ever
			return false
		}
		b.used += w.amount
		b.by[w.user] += w.amount
		close(w.granted)
		return true
	})
}

// abandon ends a wait. It reports false for a taker that has got its amount meanwhile.
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
