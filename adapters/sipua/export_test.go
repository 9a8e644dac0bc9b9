package sipua

import (
	"net/netip"
	"time"
)

// Hurry sets the maximum time that a server may stay silent, and the time after which no further server is tried.
func (u *UA) Hurry(patience, limit time.Duration) { u.patience, u.limit = patience, limit }

// KeepAlive sets the interval of keep-alives on the connections of registrations, and the maximum wait for an answer.
func (u *UA) KeepAlive(every, pong time.Duration) { u.bindings.KeepAlive(every, pong) }

// Held returns the number of calls and registrations that use outbound connections.
func (u *UA) Held() int { return u.pool.Uses() }

// Pending returns the number of callers' INVITEs without a final response.
func (u *UA) Pending() int { return u.server.Pending() }

// Known reports whether a caller's connection has sent a SIP message.
func (u *UA) Known(remote netip.AddrPort) bool { return u.listener.Known(remote) }
