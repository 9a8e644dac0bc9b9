package callwrighttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// RunLeases tests a node.Leases together with its callwright.Atomic, in whose transactions it takes part. newLeases must return a
// node.Leases without leases.
func RunLeases(t *testing.T, newLeases func(t *testing.T) (node.Leases, callwright.Atomic)) {
	t.Helper()
	tests := map[string]func(*testing.T, leasing){
		"acquires what is free":              acquiresFree,
		"leaves what another node holds":     leavesHeld,
		"takes what has expired":             takesExpired,
		"counts fencing numbers up":          countsFences,
		"renews all of a node at once":       renewsAll,
		"renews what nobody has taken since": renewsExpired,
		"releases":                           releasesKeys,
		"finds what is held and has expired": findsByTime,
		"keeps kinds apart":                  keepsKindsApart,
		"takes part in a transaction":        rollsLeasesBack,
		"gives a key to one node alone":      acquiresOnce,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leases, atomic := newLeases(t)
			test(t, leasing{t, leases, atomic})
		})
	}
}

var leaseStart = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// second returns leaseStart plus n seconds.
func second(n int) time.Time { return leaseStart.Add(time.Duration(n) * time.Second) }

// leasing bundles a test, the node.Leases under test and its callwright.Atomic.
type leasing struct {
	*testing.T
	leases node.Leases
	atomic callwright.Atomic
}

// keys returns the keys of leases. It fails the test if err is set.
func (l leasing) keys(leases []node.Lease, err error) []string {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
	keys := []string{}
	for _, lease := range leases {
		keys = append(keys, lease.Key)
	}
	return keys
}

func (l leasing) claim(node string, now, until int, keys ...string) []node.Lease {
	l.Helper()
	leases, err := l.leases.Claim(l.Context(), "kind", node, keys, second(now), second(until))
	l.keys(leases, err)
	return leases
}

func (l leasing) want(what string, got []string, want ...string) {
	l.Helper()
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		l.Errorf("%s: %q, want %q", what, got, want)
	}
}

func acquiresFree(_ *testing.T, l leasing) {
	got := l.claim("n1", 0, 10, "b", "a", "b")
	want := node.Lease{Kind: "kind", Key: "a", Node: "n1", Fence: leaseStart.UnixMicro(), RenewedAt: second(0), ExpiresAt: second(10)}
	if len(got) != 2 || !reflect.DeepEqual(got[0], want) {
		l.Errorf("acquired %+v\nwant first %+v", got, want)
	}
	l.want("acquired", l.keys(got, nil), "a", "b")
	l.want("acquired without keys", l.keys(l.claim("n1", 0, 10), nil))
}

func leavesHeld(_ *testing.T, l leasing) {
	l.claim("n1", 0, 10, "a", "b")
	l.want("acquired of others", l.keys(l.claim("n2", 9, 20, "a", "b", "c"), nil), "c")
	l.want("still held", l.keys(l.leases.Renew(l.Context(), "kind", "n1", second(9), second(19))), "a", "b")
}

func takesExpired(_ *testing.T, l leasing) {
	l.claim("n1", 0, 10, "a", "b")
	l.want("acquired", l.keys(l.claim("n2", 10, 20, "a"), nil), "a")
	l.want("left to the first", l.keys(l.leases.Renew(l.Context(), "kind", "n1", second(11), second(21))), "b")
	l.want("the first may not take it back", l.keys(l.claim("n1", 19, 30, "a"), nil))
}

func countsFences(_ *testing.T, l leasing) {
	fence := func(leases []node.Lease) int64 {
		l.Helper()
		if len(leases) != 1 {
			l.Fatalf("acquired %+v", leases)
		}
		return leases[0].Fence
	}
	first := fence(l.claim("n1", 0, 10, "a"))
	if same := fence(l.claim("n1", 9, 19, "a")); same != first {
		l.Errorf("acquiring a lease again changed its fence from %d to %d", first, same)
	}
	renewed, err := l.leases.Renew(l.Context(), "kind", "n1", second(10), second(20))
	if same := fence(renewed); err != nil || same != first {
		l.Errorf("renewing a lease changed its fence from %d to %d, %v", first, same, err)
	}
	second := fence(l.claim("n1", 20, 30, "a")) // the lease has expired: another node may have held it in between
	third := fence(l.claim("n2", 30, 40, "a"))
	if err := l.leases.Release(l.Context(), "kind", "n2", []string{"a"}); err != nil {
		l.Fatal(err)
	}
	if fourth := fence(l.claim("n3", 31, 41, "a")); first >= second || second >= third || third >= fourth {
		l.Errorf("the fences are %d, %d, %d, %d", first, second, third, fourth)
	}
}

func renewsAll(_ *testing.T, l leasing) {
	l.claim("n1", 0, 10, "b", "a")
	l.claim("n2", 0, 10, "c")
	renewed, err := l.leases.Renew(l.Context(), "kind", "n1", second(5), second(15))
	l.want("renewed", l.keys(renewed, err), "a", "b")
	for _, lease := range renewed {
		if lease.Node != "n1" || !lease.RenewedAt.Equal(second(5)) || !lease.ExpiresAt.Equal(second(15)) {
			l.Errorf("renewed %+v", lease)
		}
	}
	l.want("renewed of nobody", l.keys(l.leases.Renew(l.Context(), "kind", "n3", second(5), second(15))))
	l.want("expired", l.keys(l.leases.Expired(l.Context(), "kind", second(14), 10)), "c")
}

func renewsExpired(_ *testing.T, l leasing) {
	l.claim("n1", 0, 10, "a")
	l.want("renewed", l.keys(l.leases.Renew(l.Context(), "kind", "n1", second(60), second(70))), "a")
	l.want("acquired by another", l.keys(l.claim("n2", 69, 80, "a"), nil))
}

func releasesKeys(_ *testing.T, l leasing) {
	l.claim("n1", 0, 10, "a", "b")
	release := func(node string, keys ...string) {
		l.Helper()
		if err := l.leases.Release(l.Context(), "kind", node, keys); err != nil {
			l.Error(err)
		}
	}
	release("n2", "a", "b")
	release("n1", "a", "unknown")
	release("n1")
	l.want("acquired", l.keys(l.claim("n2", 1, 11, "a", "b"), nil), "a")
}

func findsByTime(_ *testing.T, l leasing) {
	for key, until := range map[string]int{"a": 10, "b": 20, "c": 20, "d": 30, "e": 5} {
		l.claim("n"+key, 0, until, key)
	}
	held := func(now, limit int) []string { return l.keys(l.leases.Held(l.Context(), "kind", second(now), limit)) }
	expired := func(now, limit int) []string {
		return l.keys(l.leases.Expired(l.Context(), "kind", second(now), limit))
	}
	l.want("held", held(10, 10), "d", "c", "b")
	l.want("held, limited", held(10, 1), "d")
	l.want("expired", expired(20, 10), "e", "a", "b", "c")
	l.want("expired, limited", expired(20, 2), "e", "a")
	l.want("expired before the first", expired(4, 10))
	leases, err := l.leases.Expired(l.Context(), "kind", second(5), 10)
	if err != nil || len(leases) != 1 || leases[0].Node != "ne" || !leases[0].RenewedAt.Equal(leaseStart) {
		l.Errorf("expired %+v, %v", leases, err)
	}
}

func keepsKindsApart(_ *testing.T, l leasing) {
	l.claim("n1", 0, 10, "a")
	l.want("acquired of another kind", l.keys(l.leases.Claim(l.Context(), "other", "n2", []string{"a"}, second(0), second(10))), "a")
	l.want("renewed", l.keys(l.leases.Renew(l.Context(), "other", "n1", second(0), second(90))))
	if err := l.leases.Release(l.Context(), "other", "n1", []string{"a"}); err != nil {
		l.Error(err)
	}
	l.want("held", l.keys(l.leases.Held(l.Context(), "kind", second(0), 10)), "a")
	l.want("expired", l.keys(l.leases.Expired(l.Context(), "other", second(10), 10)), "a")
}

func rollsLeasesBack(_ *testing.T, l leasing) {
	err := l.atomic.Do(l.Context(), func(ctx context.Context) error {
		got, err := l.leases.Claim(ctx, "kind", "n1", []string{"a"}, second(0), second(10))
		l.want("acquired", l.keys(got, err), "a")
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		l.Fatal(err)
	}
	l.want("held", l.keys(l.leases.Held(l.Context(), "kind", second(0), 10)))
}

// acquiresOnce checks that each key is claimed exactly once if nodes claim the same keys concurrently, in different orders.
func acquiresOnce(_ *testing.T, l leasing) {
	const nodes, count = 8, 20
	var keys []string
	for i := range count {
		keys = append(keys, fmt.Sprintf("k%02d", i))
	}
	var mu sync.Mutex
	var all []string
	var acquiring sync.WaitGroup
	for n := range nodes {
		mine := slices.Clone(keys)
		if n%2 > 0 {
			slices.Reverse(mine)
		}
		acquiring.Go(func() {
			got, err := l.leases.Claim(l.Context(), "kind", fmt.Sprint("n", n), mine, second(0), second(10))
			if err != nil {
				l.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, lease := range got {
				all = append(all, lease.Key)
			}
		})
	}
	acquiring.Wait()
	slices.Sort(all)
	l.want("acquired in all", all, keys...)
}
