package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// zone is a DNS that returns the same SRV records for every name, and a different address for each target.
type zone []*net.SRV

func (z zone) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", z, nil
}

func (z zone) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	for i, r := range z {
		if r.Target == host {
			return []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}, nil
		}
	}
	return nil, &net.DNSError{Name: host, IsNotFound: true}
}

// tried returns the first letters of the targets, in the order in which calls try them.
func tried(t *testing.T, z zone, random func(int) int) string {
	t.Helper()
	r, err := resolve.New(resolve.Config{DNS: z, Runtime: callwright.Runtime{Clock: &clock{}}, Random: random})
	if err != nil {
		t.Fatal(err)
	}
	return triedBy(t, r)
}

func triedBy(t *testing.T, r *resolve.Resolver) string {
	t.Helper()
	targets, err := r.Targets(t.Context(), uri.URI{Host: "pbx.test"})
	if err != nil {
		t.Fatal(err)
	}
	var letters strings.Builder
	for _, target := range targets {
		letters.WriteString(target.Host[:1])
	}
	return letters.String()
}

// TestOrderByWeight checks the algorithm of RFC 2782 for every random number that may be drawn in its first step.
func TestOrderByWeight(t *testing.T) {
	t.Parallel()
	records := zone{
		{Target: "a.test.", Port: 1, Weight: 2}, {Target: "b.test.", Port: 1, Weight: 1}, {Target: "z.test.", Port: 1},
		{Target: "later.test.", Port: 1, Priority: 1, Weight: 100},
	}
	// The running sums are z 0, a 2, b 3; the algorithm chooses the first sum that reaches the number. All later random numbers are 0.
	for first, want := range []string{"zabl", "azbl", "azbl", "bzal"} {
		numbers := []int{first}
		got := tried(t, records, func(n int) int {
			if len(numbers) == 0 {
				return 0
			}
			number := numbers[0]
			numbers = nil
			if n != 4 {
				t.Errorf("chance is asked for one of %d numbers, want 0 to the sum of the weights", n)
			}
			return number
		})
		if got != want {
			t.Errorf("number %d: %s, want %s", first, got, want)
		}
	}
}

// TestSharesOfWeights checks that over many calls each target comes first in proportion to its weight.
func TestSharesOfWeights(t *testing.T) {
	t.Parallel()
	records := zone{
		{Target: "a.test.", Port: 1, Weight: 600}, {Target: "b.test.", Port: 1, Weight: 300},
		{Target: "c.test.", Port: 1, Weight: 100}, {Target: "z.test.", Port: 1},
	}
	source := rand.New(rand.NewPCG(1, 2))
	r, err := resolve.New(resolve.Config{DNS: records, Runtime: callwright.Runtime{Clock: &clock{}}, Random: source.IntN})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 5000
	first := map[string]int{}
	for range runs {
		first[triedBy(t, r)[:1]]++
	}
	for target, share := range map[string]float64{"a": 0.6, "b": 0.3, "c": 0.1, "z": 0} {
		if got := float64(first[target]) / runs; math.Abs(got-share) > 0.03 {
			t.Errorf("%s is first in %.3f of the runs, want about %.1f", target, got, share)
		}
	}
}

// partial is a DNS that returns well-formed SRV records together with an error about a malformed one.
type partial struct{ zone }

func (p partial) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", p.zone, errors.New("a name is malformed")
}

func TestMalformedRecordsAreLeftOut(t *testing.T) {
	t.Parallel()
	r, _ := resolver(t, partial{zone{{Target: "a.test.", Port: 5061}}})
	if got := triedBy(t, r); got != "a" {
		t.Errorf("tried %q", got)
	}
}

// TestOrderOfAnyRecords checks for arbitrary records and random numbers that no target is repeated, that no target is lost below the limit,
// and that priorities ascend.
func TestOrderOfAnyRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 40).Draw(t, "records")
		records := make(zone, count)
		priorities := map[string]uint16{}
		for i := range records {
			records[i] = &net.SRV{
				Target: fmt.Sprintf("h%d.test.", i), Port: 5061,
				Priority: rapid.Uint16Range(0, 3).Draw(t, "priority"), Weight: rapid.Uint16().Draw(t, "weight"),
			}
			priorities[fmt.Sprintf("h%d.test", i)] = records[i].Priority
		}
		random := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "chance") }
		r, err := resolve.New(resolve.Config{DNS: records, Runtime: callwright.Runtime{Clock: &clock{}}, Random: random})
		if err != nil {
			t.Fatal(err)
		}
		targets, err := r.Targets(context.Background(), uri.URI{Host: "pbx.test"})
		if err != nil || len(targets) != min(count, resolve.MaxTargets) {
			t.Fatalf("%d targets of %d records: %v", len(targets), count, err)
		}
		last := uint16(0)
		for _, target := range targets {
			priority, ok := priorities[target.Host]
			if !ok || priority < last {
				t.Fatalf("%v are out of order or double", targets)
			}
			delete(priorities, target.Host)
			last = priority
		}
	})
}
