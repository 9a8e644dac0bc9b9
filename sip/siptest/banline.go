package siptest

import (
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/ban"
)

// RunBanLine tests a ban.Line. newLine returns a ban.Line that contains no bans and uses the system's clock.
func RunBanLine(t *testing.T, newLine func(t *testing.T) ban.Line) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, ban.Line){
		"bans and lifts":           bansAndLifts,
		"moves the end of a ban":   movesBan,
		"leaves out ended bans":    leavesOutEnded,
		"shares no memory":         sharesNoBans,
		"lifts what is not banned": liftsNothing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newLine(t))
		})
	}
}

// scanner and network are the banned sources. network is an IPv6 network, which bans represent by its first address: see callwright.Source.
var scanner, network = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::")

// wantBans checks that exactly the given bans exist.
func wantBans(t *testing.T, l ban.Line, want map[netip.Addr]time.Time) {
	t.Helper()
	if got := l.Bans(); !maps.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("the bans are %v, want %v", got, want)
	}
}

func bansAndLifts(t *testing.T, l ban.Line) {
	wantBans(t, l, nil)
	until := time.Now().Add(time.Hour)
	l.Ban(scanner, until)
	l.Ban(network, until)
	wantBans(t, l, map[netip.Addr]time.Time{scanner: until, network: until})
	l.Lift(scanner)
	wantBans(t, l, map[netip.Addr]time.Time{network: until})
	l.Lift(network)
	wantBans(t, l, nil)
}

func movesBan(t *testing.T, l ban.Line) {
	for _, until := range []time.Time{time.Now().Add(time.Hour), time.Now().Add(2 * time.Hour), time.Now().Add(30 * time.Minute)} {
		l.Ban(scanner, until)
		wantBans(t, l, map[netip.Addr]time.Time{scanner: until})
	}
}

func leavesOutEnded(t *testing.T, l ban.Line) {
	l.Ban(scanner, time.Now().Add(-time.Second))
	wantBans(t, l, nil)
}

func sharesNoBans(t *testing.T, l ban.Line) {
	until := time.Now().Add(time.Hour)
	l.Ban(scanner, until)
	clear(l.Bans())
	wantBans(t, l, map[netip.Addr]time.Time{scanner: until})
}

func liftsNothing(t *testing.T, l ban.Line) {
	l.Lift(scanner)
	wantBans(t, l, nil)
}
