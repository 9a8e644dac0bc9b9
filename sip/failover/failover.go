package failover

import (
	"net"
	"slices"
	"strconv"
	"time"
)

// Trigger is a class of failures that leads to the next server.
type Trigger string

// The triggers. Classify returns the trigger of an outcome.
const (
	Unreachable Trigger = "unreachable"  // no address, connection or TLS; or 408, 502, 503 or 504 from the peer
	AuthFailure Trigger = "auth_failure" // 401 or 407 although our credentials were sent; not 403, which comes from the callee
	Timeout     Trigger = "timeout"      // connected, but no response arrived
)

// Failback selects when calls return to a server of higher priority.
type Failback string

// The values of Config.Failback.
const (
	Auto   Failback = "auto"   // when the server answers probes again; the default
	Manual Failback = "manual" // when the trunk's failover is configured again
)

// MaxServers is the maximum number of servers of a trunk: primary, secondary and tertiary.
const MaxServers = 3

// Time limits of the attempts of one call.
const (
	Patience = 4 * time.Second  // limit for the first response of a connected server (RFC 3261 allows 32 s)
	Limit    = 12 * time.Second // after this time no further server is tried
)

// Server is a server of a trunk. Connections to it always use TLS.
type Server struct {
	Host string
	Port uint16 // 0 means that DNS determines it (RFC 3263)
}

// String returns "host:port", or "host" if Port is 0. The result is also used as a key.
func (s Server) String() string {
	if s.Port == 0 {
		return s.Host
	}
	return net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
}

// Config is the failover configuration of a trunk. If Enabled is false, calls try only the trunk's endpoint.
type Config struct {
	Enabled  bool
	Servers  []Server  // in descending order of priority
	Triggers []Trigger // empty means all triggers
	Failback Failback  // empty means Auto
}

// Outcome is the result of an attempt that was not answered.
type Outcome struct {
	Code          int  // status of the final response; 0 without one
	Connected     bool // the TLS connection was established
	Rang          bool // a provisional response above 100 arrived
	Authenticated bool // our credentials were sent
}

// Classify returns the trigger of an outcome. ok is false if the outcome is final, so that no further server may be tried.
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

// Next reports whether a call with this outcome tries the next server.
func (c Config) Next(o Outcome) bool {
	t, ok := Classify(o)
	return ok && c.Enabled && (len(c.Triggers) == 0 || slices.Contains(c.Triggers, t))
}
