package sipua

import (
	"net/netip"
	"time"
)

// Hurry makes a user agent as impatient as tests are: how long a server may stay silent, and when no other one is tried
// any more.
func (u *UA) Hurry(patience, limit time.Duration) { u.patience, u.limit = patience, limit }

// KeepAlive sets how often registrations' connections are kept alive, and how long an answer may take.
func (u *UA) KeepAlive(every, pong time.Duration) { u.bindings.KeepAlive(every, pong) }

// Held returns the number of calls and registrations that hold connections that we have made.
func (u *UA) Held() int { return u.pool.Uses() }

// Pending returns the number of callers' INVITEs without a final response.
func (u *UA) Pending() int { return u.server.Pending() }

// Known reports whether a caller's connection is known to speak SIP.
func (u *UA) Known(remote netip.AddrPort) bool { return u.listener.Known(remote) }
