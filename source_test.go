package callwright_test

import (
	"net/netip"
	"testing"

	"github.com/callwright/callwright"
)

func TestSource(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
		"2001:db8:1:2:ffff::1": "2001:db8:1:2::",
		"fe80::1:2:3:4%eth0":   "fe80::",
		"2001:db8:1:3:3:4:5:6": "2001:db8:1:3::",
		"::1":                  "::",
	} {
		if got := callwright.Source(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := callwright.Source(netip.Addr{}); got.IsValid() {
		t.Errorf("the zero address: %s", got)
	}
}
