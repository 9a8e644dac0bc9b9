package failover

import (
	"net"
	"slices"
	"strconv"
	"time"
)

// Trigger is a class of failures that leads to the next server.
type Trigger string

// The triggers.
const (
	Unreachable Trigger = "unreachable"  // no address, connection or TLS; 502, 503, 504, or 408 from the peer
	AuthFailure Trigger = "auth_failure" // our credentials are refused: 401 or 407 to them; 403 is the callee's answer
	Timeout     Trigger = "timeout"      // connected, but no response
)

// Failback is the way in which calls return to a server of a higher priority.
type Failback string

// The ways to return.
const (
	Auto   Failback = "auto"   // when probes are answered again: the default
	Manual Failback = "manual" // when the owner sets the configuration again
)

// MaxServers is the most servers of a trunk: primary, secondary and tertiary.
const MaxServers = 3

// The time limits of one call's attempts.
const (
	Patience = 4 * time.Second  // for the first response of a connected server (RFC 3261 allows 32 s)
	Limit    = 12 * time.Second // no further server is tried after it
)

// Server is a server of a trunk, always over TLS.
type Server struct {
	Host string
	Port uint16 // 0: from DNS (RFC 3263)
}

// String returns "host:port", or "host" without a port. It serves as a key, too.
func (s Server) String() string {
	if s.Port == 0 {
		return s.Host
	}
	return net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
}

// Config is the failover of a trunk. While it is disabled, calls go to the trunk's endpoint alone.
type Config struct {
	Enabled  bool
	Servers  []Server  // in the order of priority
	Triggers []Trigger // empty: all of them
	Failback Failback  // empty: Auto
}

// Outcome is the result of an attempt that was not answered.
type Outcome struct {
	Code          int  // the final response; 0: none
	Connected     bool // the TLS connection was up
	Rang          bool // a provisional response above 100 came
	Authenticated bool // our credentials were sent
}

// Classify returns the trigger of an outcome; ok is false for a final outcome.
func Classify(o Outcome) (t Trigger, ok bool) {
	switch {
	case o.Rang:
		return "", false
	case o.Code == 0 && !o.Connected:
		return Unreachable, true
	case o.Code == 0:
		return Timeout, true
	case o.Code == 408, o.Code == 502, o.Code == 503, o.Code == 504:
		return Unreachable, true
	case o.Authenticated && (o.Code == 401 || o.Code == 407):
		return AuthFailure, true
	default:
		return "", false
	}
}

// Next reports whether an outcome leads to the next server.
func (c Config) Next(o Outcome) bool {
	t, ok := Classify(o)
	return ok && c.Enabled && (len(c.Triggers) == 0 || slices.Contains(c.Triggers, t))
}
