package failover

import (
	"net"
	"slices"
	"strconv"
	"time"
)

// Trigger is a class of failures that sends a call to the next server.
type Trigger string

// The triggers.
const (
	Unreachable Trigger = "unreachable"  // no address, connection or TLS; 502, 503, 504, or 408 from the peer
	AuthFailure Trigger = "auth_failure" // refused with credentials
	Timeout     Trigger = "timeout"      // connected, and silent
)

// Failback is how calls return to a server of a higher priority.
type Failback string

// The ways.
const (
	Auto   Failback = "auto"   // when its probes are answered again: the default
	Manual Failback = "manual" // when its owner sets the configuration again
)

// MaxServers is how many servers a trunk has at most: primary, secondary, tertiary.
const MaxServers = 3

// The times of one call's attempts.
const (
	Patience = 4 * time.Second  // how long a connected server may stay silent (RFC 3261 would wait for 32 s)
	Limit    = 12 * time.Second // no other server is tried after that
)

// Server is one of a trunk's servers, always over TLS.
type Server struct {
	Host string
	Port uint16 // 0: as DNS says (RFC 3263)
}

// String is the server for people and as a key: "host:port", or "host" without a port.
func (s Server) String() string {
	if s.Port == 0 {
		return s.Host
	}
	return net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
}

// Config is the failover of a trunk. Disabled, calls go to the trunk's endpoint alone.
type Config struct {
	Enabled  bool
	Servers  []Server  // in the order of priority
	Triggers []Trigger // none: all of them
	Failback Failback  // empty: Auto
}

// Outcome is what became of an attempt that was not answered by a person or a machine at the other end.
type Outcome struct {
	Code          int  // the final answer; 0: none came
	Connected     bool // there was a TLS connection
	Rang          bool // something beyond 100 came before the end
	Authenticated bool // our credentials had been sent
}

// Classify says which trigger an outcome is; ok is false for one that stays what it is.
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
	case o.Authenticated && (o.Code == 401 || o.Code == 403 || o.Code == 407):
		return AuthFailure, true
	default:
		return "", false
	}
}

// Next says whether an outcome sends the call to the next server.
func (c Config) Next(o Outcome) bool {
	t, ok := Classify(o)
	return ok && c.Enabled && (len(c.Triggers) == 0 || slices.Contains(c.Triggers, t))
}
