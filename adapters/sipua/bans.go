package sipua

import (
	"net/netip"
	"time"

	"github.com/callwright/callwright/sip/ban"
)

var _ ban.Line = (*UA)(nil)

// Bans returns the ends of the bans in force, by source.
func (u *UA) Bans() map[netip.Addr]time.Time { return u.sources.Bans() }

// Ban ignores a source until a time, unless it is trusted.
func (u *UA) Ban(source netip.Addr, until time.Time) { u.sources.Ban(source, until) }

// Lift ends the ban of a source. Its requests count afresh.
func (u *UA) Lift(source netip.Addr) { u.sources.Lift(source) }
