package sipua

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright/sip/ban"
)

var _ ban.Line = (*UA)(nil)

// Bans returns the sources that are banned, with the ends of their bans.
func (u *UA) Bans() map[netip.Addr]time.Time { return u.sources.Bans() }

// Ban makes the user agent ignore a source until the given time. It has no effect on a trusted source.
func (u *UA) Ban(source netip.Addr, until time.Time) { u.sources.Ban(source, until) }

// Lift ends the ban of a source and resets the counts of its requests.
func (u *UA) Lift(source netip.Addr) { u.sources.Lift(source) }
