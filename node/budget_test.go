package node_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// taker is a concurrent call of Budget.Claim.
type taker struct {
	release func()
	err     error
	done    chan struct{}
}

func accept(ctx context.Context, b *node.Budget, user string, amount int64) *taker {
	t := &taker{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.release, t.err = b.Claim(ctx, user, amount)
	}()
	synctest.Wait() // now the claim is granted or queued
	return t
}

func (t *taker) waits() bool {
	synctest.Wait()
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &node.Budget{Total: 10, Share: 6, Wait: time.Minute, Busy: "too many documents are being read"}
		first := accept(t.Context(), b, "a", 100) // claims the whole share
		second := accept(t.Context(), b, "a", 1)
		if first.waits() || !second.waits() {
			t.Fatal("a user got more than its share, or less")
		}
		other := accept(t.Context(), b, "b", 3)
		if other.waits() {
			t.Fatal("a user waits behind another one whose share is full")
		}
		large := accept(t.Context(), b, "c", 5)
		small := accept(t.Context(), b, "d", 1)
		if !large.waits() || !small.waits() {
			t.Fatal("the budget was exceeded, or a later taker overtook")
		}
		first.release()
		first.release() // the second release has no effect
		if second.waits() || large.waits() || small.waits() {
			t.Fatal("what was given back is not taken")
		}
		if last := accept(t.Context(), b, "e", 1); !last.waits() { // 1 + 3 + 5 + 1 are claimed
			t.Fatal("the budget was exceeded")
		}
	})
}

func TestBudgetWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &node.Budget{Total: 10, Wait: time.Minute, Busy: "too many documents are being read"}
		holder := accept(t.Context(), b, "a", 8)
		holder.waits()
		ctx, cancel := context.WithCancel(t.Context())
		gone, late := accept(ctx, b, "a", 5), accept(t.Context(), b, "b", 3)
		<-time.After(time.Second)
		behind := accept(t.Context(), b, "c", 2)
		if !gone.waits() || !late.waits() || !behind.waits() {
			t.Fatal("the budget was exceeded")
		}
		cancel()
		if gone.waits() || !errors.Is(gone.err, context.Canceled) {
			t.Errorf("after the end of its context: %v", gone.err)
		}
		begin := time.Now().Add(-time.Second)
		<-late.done
		after, known := callwright.RetryAfter(late.err)
		if !errors.Is(late.err, callwright.ErrUnavailable) || late.err.Error() != b.Busy || !known || after <= 0 || time.Since(begin) != b.Wait {
			t.Errorf("after %s: %v, retry after %s", time.Since(begin), late.err, after)
		}
		if behind.waits() || behind.err != nil {
			t.Errorf("what a waiter gave up is not taken: %v", behind.err)
		}
	})
}

// TestBudgetIsKept checks that all of many concurrent claims are granted in the end, and that never more claims are held at a time than
// Total allows.
func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &node.Budget{Total: 7, Share: 4, Wait: time.Hour}
		takers := make([]*taker, 0, 60)
		for i := range 60 {
			takers = append(takers, accept(t.Context(), b, string(rune('a'+i%4)), int64(1+i%3)))
		}
		for len(takers) > 0 {
			synctest.Wait()
			var have int64
			left := slices.DeleteFunc(slices.Clone(takers), func(x *taker) bool {
				select {
				case <-x.done:
					have++
					return true
				default:
					return false
				}
			})
			if have == 0 || have > b.Total {
				t.Fatalf("%d of %d takers have some at once", have, len(takers))
			}
			for _, x := range takers {
				if !slices.Contains(left, x) {
					x.release()
				}
			}
			takers = left
		}
	})
}
