package monitor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/siptest"
)

// TestProberConforms runs the conformance suite of Prober on the fake prober.
func TestProberConforms(t *testing.T) {
	t.Parallel()
	siptest.RunMonitorProber(t, func(*testing.T) siptest.MonitorProberHarness {
		p, servers := newProber(), 0
		server := func(change func(p *prober, name string)) failover.Server {
			servers++
			s := failover.Server{Host: fmt.Sprintf("s%d.test", servers), Port: 5061}
			p.set(func(p *prober) { change(p, s.String()) })
			return s
		}
		return siptest.MonitorProberHarness{
			Prober: p,
			Server: func(_ *testing.T, code int, retryAfter time.Duration) failover.Server {
				return server(func(p *prober, name string) {
					p.silent[name], p.codes[name], p.busy[name] = code == 0, code, retryAfter
				})
			},
			Down: func(*testing.T) failover.Server {
				return server(func(p *prober, name string) { p.down[name] = true })
			},
		}
	})
}
