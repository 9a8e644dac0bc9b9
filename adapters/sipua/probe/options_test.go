package probe_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/internal/testdns"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
)

func serverAt(host string, peer *responder) failover.Server {
	return failover.Server{Host: host, Port: peer.address.Port()}
}

func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1")
	for _, c := range []struct {
		status, headers string
		alive           bool
		retryAfter      time.Duration
	}{
		{"200 OK", "", true, 0},
		{"302 Moved Temporarily", "", true, 0},
		{"401 Unauthorized", "", true, 0},
		{"404 Not Found", "", true, 0},
		{"405 Method Not Allowed", "", true, 0},
		{"500 Server Internal Error", "Retry-After: 5\r\n", true, 0},
		{"501 Not Implemented", "", true, 0},
		{"603 Decline", "", true, 0},
		{"408 Request Timeout", "", false, 0},
		{"502 Bad Gateway", "", false, 0},
		{"503 Service Unavailable", "", false, 0},
		{"503 Service Unavailable", "Retry-After: 90 (maintenance)\r\n", false, 90 * time.Second},
		{"503 Service Unavailable", "Retry-After: 120;duration=60\r\n", false, 2 * time.Minute},
		{"503 Service Unavailable", "Retry-After: 999999999\r\n", false, time.Hour},
		{"503 Service Unavailable", "Retry-After: soon\r\n", false, 0},
		{"504 Server Time-out", "", false, 0},
	} {
		peer := respond(t, uri.TLS, &cert, answers(c.status, c.headers, ""))
		before := time.Now().Add(-time.Millisecond)
		e := newProber(t, nil, nil).Options(within(t, patience), serverAt("127.0.0.1", peer), trunk.VerifyFull)
		if e.Alive != c.alive || e.RetryAfter != c.retryAfter || (e.ResponseTime > 0) != c.alive || e.At.Before(before) ||
			e.Reason != "the server answered "+c.status[:3] {
			t.Errorf("%s: %+v", c.status, e)
		}
	}
}

func TestVerification(t *testing.T) {
	t.Parallel()
	trusted, _ := issue(t, "localhost")
	dns := testdns.Start(t, "pbx.test. A 127.0.0.1", "localhost. A 127.0.0.1")
	const (
		elsewhere = "the certificate does not name the host"
		nobody    = "the certificate is signed by an unknown authority"
		expired   = "the certificate has expired, or is not valid yet"
	)
	for _, c := range []struct {
		cert              tls.Certificate
		host              string
		full, chain, none string // expected fault for each verification; empty if none
	}{
		{trusted, "localhost", "", "", ""},
		{trusted, "pbx.test", elsewhere, "", ""},
		{selfSigned(t, time.Now().Add(time.Hour)), "localhost", nobody, nobody, ""},
		{selfSigned(t, time.Now().Add(-time.Hour)), "localhost", expired, expired, ""},
	} {
		peer := respond(t, uri.TLS, &c.cert, answers("200 OK", "", ""))
		p := newProber(t, dns.Resolver(), nil)
		for verify, want := range map[trunk.TLSVerification]string{
			"": c.full, trunk.VerifyFull: c.full, trunk.VerifyChain: c.chain, trunk.VerifyNone: c.none,
		} {
			e := p.Options(within(t, patience), serverAt(c.host, peer), verify)
			if e.Alive != (want == "") || want != "" && e.Reason != want {
				t.Errorf("%q at %s: %+v, want %q", verify, c.host, e, want)
			}
		}
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1", "localhost")
	peer := respond(t, uri.TLS, &cert, answers("200 OK", "", ""))
	p := newProber(t, nil, nil)
	alive := func(server failover.Server, verify trunk.TLSVerification) {
		t.Helper()
		if e := p.Options(within(t, patience), server, verify); !e.Alive {
			t.Errorf("%+v", e)
		}
	}
	server := serverAt("127.0.0.1", peer)
	for range 3 {
		alive(server, trunk.VerifyFull)
	}
	if n := peer.accepts.Load(); n != 1 || p.Idle() != 1 {
		t.Errorf("3 probes made %d connections, %d wait", n, p.Idle())
	}
	alive(server, trunk.VerifyNone) // probes with different TLS verification modes do not share connections
	if n := peer.accepts.Load(); n != 2 || p.Idle() != 2 {
		t.Errorf("two profiles made %d connections, %d wait", n, p.Idle())
	}
	peer.hangUp()
	alive(server, trunk.VerifyFull)
	if n := peer.accepts.Load(); n != 3 || peer.resumed.Load() != 2 {
		t.Errorf("after the server hung up: %d connections, %d with an old session", n, peer.resumed.Load())
	}
	p.SetMaxIdle(0)
	alive(server, trunk.VerifyFull)
	if p.Idle() > 1 {
		t.Errorf("%d connections wait although there is no room", p.Idle())
	}
}

// TestSilenceEndsAConnection checks that a connection is not reused after a timeout. Otherwise a late answer could be taken for the answer
// to the next probe.
func TestSilenceEndsAConnection(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1")
	var mu sync.Mutex
	silent := false
	peer := respond(t, uri.TLS, &cert, func(request string, send func(...string)) bool {
		mu.Lock()
		defer mu.Unlock()
		if !silent {
			send(answer(request, "200 OK", "", ""))
		}
		return false
	})
	p := newProber(t, nil, nil)
	server := serverAt("127.0.0.1", peer)
	for _, step := range []struct {
		silent bool
		reason string
	}{{false, "the server answered 200"}, {true, "no answer in time"}, {false, "the server answered 200"}} {
		mu.Lock()
		silent = step.silent
		mu.Unlock()
		limit := patience
		if step.silent {
			limit = 200 * time.Millisecond
		}
		if e := p.Options(within(t, limit), server, ""); e.Alive == step.silent || e.Reason != step.reason {
			t.Errorf("%+v, want %q", e, step.reason)
		}
	}
	if n := peer.accepts.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// moving is a clock that advances only when the test sets it.
type moving struct {
	mu  sync.Mutex
	now time.Time
}

func (m *moving) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func TestUnusedConnectionsEnd(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1")
	clock := &moving{now: time.Unix(1_800_000_000, 0)}
	p := newProber(t, nil, func(c *probe.Config) { c.Clock = clock })
	for range 3 {
		peer := respond(t, uri.TLS, &cert, answers("200 OK", "", ""))
		if e := p.Options(within(t, patience), serverAt("127.0.0.1", peer), ""); !e.Alive {
			t.Fatalf("%+v", e)
		}
		if p.Idle() != 1 {
			t.Errorf("%d connections wait, want the newest alone", p.Idle())
		}
		clock.mu.Lock()
		clock.now = clock.now.Add(probe.IdleLife + time.Second)
		clock.mu.Unlock()
	}
	p.Close()
	if p.Idle() != 0 {
		t.Errorf("%d connections wait after Close", p.Idle())
	}
	peer := respond(t, uri.TLS, &cert, answers("200 OK", "", ""))
	if e := p.Options(within(t, patience), serverAt("127.0.0.1", peer), ""); !e.Alive || p.Idle() != 0 {
		t.Errorf("after Close: %+v, %d wait", e, p.Idle())
	}
}

func TestServersOfSeveralAddresses(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "pbx.test", "silent.test")
	good := respond(t, uri.TLS, &cert, answers("200 OK", "", ""))
	tired := respond(t, uri.TLS, &cert, answers("503 Service Unavailable", "", ""))
	silent := respond(t, uri.TLS, &cert, func(string, func(...string)) bool { return false })
	zone := []string{"a.test. A 127.0.0.1", "_sips._tcp.private.test. SRV 0 0 5061 a.test."}
	srv := func(host string, order ...*responder) {
		for i, r := range order {
			zone = append(zone, fmt.Sprintf("_sips._tcp.%s. SRV %d 0 %d a.test.", host, i, r.address.Port()))
		}
	}
	srv("pbx.test", tired, good)
	srv("silent.test", silent, good)
	dns := testdns.Start(t, zone...)
	p := newProber(t, dns.Resolver(), nil)
	for host, limit := range map[string]time.Duration{"pbx.test": patience, "silent.test": 3 * time.Second} {
		if e := p.Options(within(t, limit), failover.Server{Host: host}, ""); !e.Alive {
			t.Errorf("%s: %+v", host, e)
		}
	}
	if request := good.received()[0]; !strings.HasPrefix(request, "OPTIONS sip:pbx.test;transport=tls SIP/2.0\r\n") &&
		!strings.HasPrefix(request, "OPTIONS sip:silent.test;transport=tls SIP/2.0\r\n") {
		t.Errorf("asked with\n%s", request)
	}
	if e := p.Options(within(t, patience), failover.Server{Host: "absent.test"}, ""); e.Alive || e.Reason != "absent.test has no address in DNS" || e.At.IsZero() {
		t.Errorf("a name that leads nowhere: %+v", e)
	}
	guarded := newProber(t, dns.Resolver(), func(c *probe.Config) { c.AllowPrivate = false })
	for _, server := range []failover.Server{{Host: "private.test"}, {Host: "127.0.0.1", Port: good.address.Port()}} {
		if e := guarded.Options(within(t, patience), server, trunk.VerifyNone); e.Alive || e.Reason != "the address is not public" {
			t.Errorf("%s: %+v", server, e)
		}
	}
	if e := p.Options(within(t, patience), failover.Server{Host: "127.0.0.1 x"}, ""); e.Alive {
		t.Errorf("a host that is none: %+v", e)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1")
	peer := respond(t, uri.TLS, &cert, answers("200 OK", "", ""))
	p := newProber(t, nil, nil)
	ctx := within(t, patience)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 5 {
				if e := p.Options(ctx, serverAt("127.0.0.1", peer), ""); !e.Alive {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	wg.Wait()
	if p.Idle() > 20 || p.Idle() != int(peer.accepts.Load()) {
		t.Errorf("%d connections wait of %d", p.Idle(), peer.accepts.Load())
	}
}

func TestCancelledProbe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server := failover.Server{Host: netip.MustParseAddr("127.0.0.1").String(), Port: 9}
	if e := newProber(t, nil, nil).Options(ctx, server, ""); e.Alive || e.Reason != "the attempt was canceled" {
		t.Errorf("%+v", e)
	}
}
