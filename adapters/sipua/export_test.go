package sipua

import (
	"net/netip"
	"time"
)

// Hurry sets a user agent's patience for tests: the time that a server may stay silent, and the time after which no other one is
// tried.
func (u *UA) Hurry(patience, limit time.Duration) { u.patience, u.limit = patience, limit }

// KeepAlive sets the interval of keep-alives on registrations' connections, and the time limit of an answer.
func (u *UA) KeepAlive(every, pong time.Duration) { u.bindings.KeepAlive(every, pong) }

// Held returns the number of calls and registrations that hold connections that we have made.
func (u *UA) Held() int { return u.pool.Uses() }

// Pending returns the number of callers' INVITEs without a final response.
func (u *UA) Pending() int { return u.server.Pending() }

// Known reports whether a caller's connection is known to speak SIP.
func (u *UA) Known(remote netip.AddrPort) bool { return u.listener.Known(remote) }
