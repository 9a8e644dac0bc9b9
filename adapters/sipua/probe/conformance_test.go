package probe_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/uri"
)

// responds starts a peer that answers with a status code, or not at all if the code is 0.
func responds(t *testing.T, transport uri.Transport, host string, code int, headers string) *responder {
	t.Helper()
	handle := answers(fmt.Sprintf("%d Whatever", code), headers, "")
	if code == 0 {
		handle = func(string, func(...string)) bool { return false }
	}
	cert, _ := issue(t, host)
	return respond(t, transport, &cert, handle)
}

// closed returns an address without a listener. A port that was just closed could be in use by another test.
func closed(*testing.T, uri.Transport) netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:1") }

func TestMonitorProberConforms(t *testing.T) {
	t.Parallel()
	siptest.RunMonitorProber(t, func(t *testing.T) siptest.MonitorProberHarness {
		t.Helper()
		return siptest.MonitorProberHarness{
			Prober: newProber(t, nil, nil),
			Server: func(t *testing.T, code int, retryAfter time.Duration) failover.Server {
				t.Helper()
				headers := ""
				if retryAfter > 0 {
					headers = fmt.Sprintf("Retry-After: %d\r\n", int(retryAfter.Seconds()))
				}
				return serverAt("127.0.0.1", responds(t, uri.TLS, "127.0.0.1", code, headers))
			},
			Down: func(t *testing.T) failover.Server {
				t.Helper()
				return failover.Server{Host: "127.0.0.1", Port: closed(t, uri.TLS).Port()}
			},
			Untrusted: func(t *testing.T) failover.Server {
				t.Helper()
				cert := selfSigned(t, time.Now().Add(time.Hour))
				return serverAt("127.0.0.1", respond(t, uri.TLS, &cert, answers("200 OK", "", "")))
			},
		}
	})
}

func TestDiscoveryProberConforms(t *testing.T) {
	t.Parallel()
	siptest.RunDiscoveryProber(t, func(t *testing.T) siptest.DiscoveryProberHarness {
		t.Helper()
		return siptest.DiscoveryProberHarness{
			Prober: newProber(t, nil, nil), Host: "localhost",
			Guarded: newProber(t, nil, func(c *probe.Config) { c.AllowPrivate = false }),
			Server: func(t *testing.T, transport uri.Transport, code int) netip.AddrPort {
				t.Helper()
				return responds(t, transport, "localhost", code, "").address
			},
			Down: closed,
		}
	})
}
