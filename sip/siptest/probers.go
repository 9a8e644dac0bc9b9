package siptest

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/uri"
)

// These constants are the time limits for one probe in the suites of probers.
const (
	probePatience = 10 * time.Second       // for a server that answers
	probeSilence  = 200 * time.Millisecond // for a silent server
)

// MonitorProberHarness is a monitor.Prober under test with the servers that it probes.
type MonitorProberHarness struct {
	Prober monitor.Prober
	// Server starts a server that answers every OPTIONS with a code, and with a Retry-After header unless retryAfter is 0. If code is 0,
	// the server does not answer.
	Server func(t *testing.T, code int, retryAfter time.Duration) failover.Server
	// Down returns the address of a server that does not listen.
	Down func(t *testing.T) failover.Server
	// Untrusted starts a server that answers 200 and presents a certificate of an unknown authority. If nil, the suite does not test how
	// the prober verifies certificates.
	Untrusted func(t *testing.T) failover.Server
}

// RunMonitorProber tests a monitor.Prober. newHarness returns a new harness for each test.
func RunMonitorProber(t *testing.T, newHarness func(t *testing.T) MonitorProberHarness) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, MonitorProberHarness){
		"tells who is alive by the code": monitorCodes, "reports Retry-After": monitorRetryAfter,
		"ends with its context": monitorSilence, "reports a server that is down": monitorDown,
		"verifies certificates": monitorCertificates, "asks concurrently": monitorConcurrently,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newHarness(t))
		})
	}
}

func options(h MonitorProberHarness, s failover.Server, limit time.Duration) health.Evidence {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return h.Prober.Options(ctx, s, sip.VerifyFull)
}

// monitorCodes checks that the responses 408, 502, 503 and 504 mean that the server is down, and that other final responses mean that it is
// alive.
func monitorCodes(t *testing.T, h MonitorProberHarness) {
	for code, alive := range map[int]bool{
		200: true, 302: true, 401: true, 404: true, 405: true, 486: true, 500: true, 501: true, 603: true,
		408: false, 502: false, 503: false, 504: false,
	} {
		e := options(h, h.Server(t, code, 0), probePatience)
		if e.Alive != alive || (e.ResponseTime > 0) != alive || e.RetryAfter != 0 || !strings.Contains(e.Reason, strconv.Itoa(code)) {
			t.Errorf("%d: %+v", code, e)
		}
	}
}

func monitorRetryAfter(t *testing.T, h MonitorProberHarness) {
	if e := options(h, h.Server(t, 503, 90*time.Second), probePatience); e.Alive || e.RetryAfter != 90*time.Second {
		t.Errorf("%+v", e)
	}
}

// monitorSilence checks that the probe of a silent server fails when ctx ends, not earlier and not much later.
func monitorSilence(t *testing.T, h MonitorProberHarness) {
	silent := h.Server(t, 0, 0)
	began := time.Now()
	e := options(h, silent, probeSilence)
	if took := time.Since(began); took < probeSilence || took > probePatience {
		t.Errorf("silence took %s", took)
	}
	if e.Alive || e.ResponseTime != 0 || e.Reason == "" {
		t.Errorf("%+v", e)
	}
	if e := options(h, silent, 0); e.Alive || e.Reason == "" {
		t.Errorf("with a ctx that has ended: %+v", e)
	}
}

func monitorDown(t *testing.T, h MonitorProberHarness) {
	if e := options(h, h.Down(t), probePatience); e.Alive || e.ResponseTime != 0 || e.Reason == "" {
		t.Errorf("%+v", e)
	}
}

func monitorCertificates(t *testing.T, h MonitorProberHarness) {
	if h.Untrusted == nil {
		return
	}
	server := h.Untrusted(t)
	for verify, alive := range map[sip.TLSVerification]bool{
		"": false, sip.VerifyFull: false, sip.VerifyChain: false, sip.VerifyNone: true,
	} {
		ctx, cancel := context.WithTimeout(context.Background(), probePatience)
		if e := h.Prober.Options(ctx, server, verify); e.Alive != alive || e.Reason == "" {
			t.Errorf("%q: %+v", verify, e)
		}
		cancel()
	}
}

func monitorConcurrently(t *testing.T, h MonitorProberHarness) {
	servers := map[bool]failover.Server{true: h.Server(t, 200, 0), false: h.Server(t, 503, 0)}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			alive := i%2 == 0
			if e := options(h, servers[alive], probePatience); e.Alive != alive {
				t.Errorf("%+v, want alive: %t", e, alive)
			}
		})
	}
	all.Wait()
}

// DiscoveryProberHarness is a discovery.Prober under test with the servers that it probes.
type DiscoveryProberHarness struct {
	Prober discovery.Prober
	Host   string // the name in the servers' certificates
	// Server starts a server that answers every OPTIONS with a code. If code is 0, the server does not answer.
	Server func(t *testing.T, transport uri.Transport, code int) netip.AddrPort
	// Down returns an address at which no server listens.
	Down func(t *testing.T, transport uri.Transport) netip.AddrPort
	// Guarded is a prober that must not reach the addresses of Server. If nil, this is not tested.
	Guarded discovery.Prober
}

// RunDiscoveryProber tests a discovery.Prober over UDP, TCP and TLS. newHarness returns a new harness for each test.
func RunDiscoveryProber(t *testing.T, newHarness func(t *testing.T) DiscoveryProberHarness) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, DiscoveryProberHarness, uri.Transport){
		"reports every final answer": discoveryCodes, "ends with its context": discoverySilence,
		"reports that no server listens": discoveryDown, "keeps away from guarded addresses": discoveryGuarded,
		"asks concurrently": discoveryConcurrently,
	} {
		for _, transport := range []uri.Transport{uri.UDP, uri.TCP, uri.TLS} {
			t.Run(name+" over "+string(transport), func(t *testing.T) {
				t.Parallel()
				check(t, newHarness(t), transport)
			})
		}
	}
}

// probe probes an address within limit, checks the invariants that hold for every answer, and returns the answer.
func probe(t *testing.T, p discovery.Prober, q discovery.Probe, limit time.Duration) discovery.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	a := p.Probe(ctx, q)
	answered := a.Code != 0
	if a.Address != q.Address || a.Transport != q.Transport || answered != (a.ResponseTime > 0) || answered == (a.Error != "") {
		t.Errorf("the attempt at %s over %s is %+v", q.Address, q.Transport, a.Attempt)
	}
	return a
}

func discoveryCodes(t *testing.T, h DiscoveryProberHarness, transport uri.Transport) {
	for _, code := range []int{200, 302, 404, 405, 503, 603} {
		a := probe(t, h.Prober, discovery.Probe{
			Address: h.Server(t, transport, code), Transport: transport, Host: h.Host, User: "probe",
		}, probePatience)
		if a.Code != code {
			t.Errorf("%d: %+v", code, a.Attempt)
		}
		if (a.TLS != nil) != (transport == uri.TLS) || a.TLS != nil && (a.TLS.Version == "" || !a.TLS.Name || a.TLS.ExpiresAt.IsZero()) {
			t.Errorf("over %s, the certificate is %+v", transport, a.TLS)
		}
	}
}

func discoverySilence(t *testing.T, h DiscoveryProberHarness, transport uri.Transport) {
	q := discovery.Probe{Address: h.Server(t, transport, 0), Transport: transport, Host: h.Host}
	began := time.Now()
	a := probe(t, h.Prober, q, probeSilence)
	if took := time.Since(began); took < probeSilence || took > probePatience || a.Code != 0 {
		t.Errorf("silence took %s: %+v", took, a.Attempt)
	}
	if a := probe(t, h.Prober, q, 0); a.Code != 0 {
		t.Errorf("with a ctx that has ended: %+v", a.Attempt)
	}
}

func discoveryDown(t *testing.T, h DiscoveryProberHarness, transport uri.Transport) {
	a := probe(t, h.Prober, discovery.Probe{Address: h.Down(t, transport), Transport: transport, Host: h.Host}, probeSilence)
	if a.Code != 0 || a.TLS != nil {
		t.Errorf("%+v, %+v", a.Attempt, a.TLS)
	}
}

func discoveryGuarded(t *testing.T, h DiscoveryProberHarness, transport uri.Transport) {
	if h.Guarded == nil {
		return
	}
	a := probe(t, h.Guarded, discovery.Probe{Address: h.Server(t, transport, 200), Transport: transport, Host: h.Host}, probePatience)
	if a.Code != 0 || a.TLS != nil {
		t.Errorf("a guarded address is reached: %+v, %+v", a.Attempt, a.TLS)
	}
}

func discoveryConcurrently(t *testing.T, h DiscoveryProberHarness, transport uri.Transport) {
	var all sync.WaitGroup
	for i := range 10 {
		code := 200 + i
		q := discovery.Probe{Address: h.Server(t, transport, code), Transport: transport, Host: h.Host}
		all.Go(func() {
			if a := probe(t, h.Prober, q, probePatience); a.Code != code {
				t.Errorf("%d: %+v", code, a.Attempt)
			}
		})
	}
	all.Wait()
}
