package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

func TestFindsAndRecommends(t *testing.T) {
	t.Parallel()
	dns := names{
		delay: 100 * time.Millisecond,
		addresses: map[string][]netip.Addr{
			"pbx.test": addresses(one, "10.0.0.1"), "a.pbx.test": addresses("192.0.2.2"), "b.pbx.test": addresses("192.0.2.3"),
		},
		srv: map[string][]*net.SRV{"_sips._tcp.pbx.test": {
			{Target: "a.pbx.test.", Port: 5071, Priority: 10}, {Target: "b.pbx.test.", Port: 5071, Priority: 20},
			{Target: "gone.pbx.test.", Port: 5071, Priority: 30},
		}},
	}
	peers := func() map[string]peer {
		best := secured(300*time.Millisecond, true, true)
		best.answer.UserAgent, best.answer.Methods, best.answer.Codecs = "Asterisk PBX 20.1", []string{"INVITE", "ACK"}, []string{"PCMA"}
		best.answer.Headers = []fingerprint.Header{{Name: "Server", Value: "Asterisk PBX 20.1"}}
		best.wantsUser = true
		return map[string]peer{
			"192.0.2.2:5071/tls": best, "192.0.2.3:5071/tls": secured(time.Millisecond, true, true),
			one + ":5060/udp": answering(time.Millisecond),
		}
	}
	d, took, asked := discover(t, dns, peers, discovery.Request{Host: "PBX.test"})
	if d.Status != discovery.Completed || d.Host != "pbx.test" || d.CompletedAt == nil || d.Reason != "" {
		t.Fatalf("%+v", d)
	}
	if took > 8*time.Second {
		t.Errorf("took %s", took)
	}
	if r := d.Recommended; r == nil || r.Port != 5071 || r.Transport != uri.TLS || r.UserAgent != "Asterisk PBX 20.1" ||
		r.System.System != "Asterisk" || r.System.Note != "" || !slices.Equal(r.Methods, []string{"INVITE", "ACK"}) || !slices.Equal(r.Codecs, []string{"PCMA"}) {
		t.Errorf("recommended %+v", r)
	}
	if len(d.SRV) != 3 || d.SRV[0].Target != "a.pbx.test" || !slices.Equal(d.Addresses, addresses(one, "192.0.2.2", "192.0.2.3")) {
		t.Errorf("SRV %v, addresses %v", d.SRV, d.Addresses)
	}
	// There are two attempts at the SRV records' targets, seven usual ports at each address, and one at the private address, which is not
	// probed.
	if len(d.Attempts) != 24 {
		t.Errorf("%d attempts: %+v", len(d.Attempts), d.Attempts)
	}
	hidden := slices.IndexFunc(d.Attempts, func(a discovery.Attempt) bool { return a.Address.Addr().IsUnspecified() })
	if last := d.Attempts[max(hidden, 0)]; hidden < 0 || last.Error != "the address is not public" {
		t.Errorf("of the private address: %+v", d.Attempts)
	}
	if slices.ContainsFunc(asked, func(q string) bool { return strings.HasPrefix(q, "10.") }) {
		t.Error("the private address was asked")
	}
	for question, want := range map[string]int{
		"192.0.2.2:5071/tls": 1, "192.0.2.2:5071/tls ping": 1, "192.0.2.3:5071/tls": 1, "192.0.2.3:5071/tls ping": 0,
		one + ":5061/tls ping": 0, one + ":5061/tcp ping": 1, // without a handshake, TLS is not probed a second time
	} {
		if n := len(slices.DeleteFunc(slices.Clone(asked), func(q string) bool { return q != question })); n != want {
			t.Errorf("%q was asked %d times, want %d", question, n, want)
		}
	}
}

func TestRecommendation(t *testing.T) {
	t.Parallel()
	tls, udp, tcp := one+":5061/tls", one+":5060/udp", one+":5060/tcp"
	const inClear, badCertificate = "The server responds only without encryption", "The server's certificate fails verification"
	twoDoors := names{
		addresses: pbx.addresses, srv: map[string][]*net.SRV{"_sips._tcp.pbx.test": {{Target: "pbx.test.", Port: 7000}}},
	}
	for _, c := range []struct {
		name  string
		peers func() map[string]peer
		want  string
		note  string
	}{
		{"TLS before all", func() map[string]peer {
			return map[string]peer{tls: secured(time.Second, true, true), tcp: answering(1), udp: answering(1)}
		}, "5061/tls", ""},
		{"TLS with a bad certificate before TCP", func() map[string]peer {
			return map[string]peer{tls: secured(time.Second, true, false), tcp: answering(1), udp: answering(1)}
		}, "5061/tls", badCertificate},
		{"a good certificate before a bad one", func() map[string]peer {
			return map[string]peer{one + ":7000/tls": secured(1, false, true), tls: secured(time.Second, true, true)}
		}, "5061/tls", ""},
		{"an expired certificate is a bad one", func() map[string]peer {
			old := secured(1, true, true)
			old.answer.TLS.ExpiresAt = time.Now()
			return map[string]peer{one + ":7000/tls": old, tls: secured(time.Second, true, true)}
		}, "5061/tls", ""},
		{"TCP before UDP", func() map[string]peer {
			return map[string]peer{tcp: answering(time.Second), udp: answering(1)}
		}, "5060/tcp", inClear},
		{"the fastest of equal ones", func() map[string]peer {
			return map[string]peer{udp: answering(3), one + ":5080/udp": answering(2), one + ":5061/udp": answering(4)}
		}, "5080/udp", inClear},
		{"any final answer counts", func() map[string]peer {
			refusing := secured(1, true, true)
			refusing.answer.Code = 403
			return map[string]peer{tls: refusing}
		}, "5061/tls", ""},
	} {
		d, _, _ := discover(t, twoDoors, c.peers, discovery.Request{Host: "pbx.test"})
		recommends(t, c.name, d, c.want, c.note)
	}
}

// recommends checks that a discovery recommends a port and a transport, with a note that begins with the given text, or without a note if
// the text is empty.
func recommends(t *testing.T, name string, d discovery.Discovery, want, note string) {
	t.Helper()
	r := d.Recommended
	if r == nil {
		t.Errorf("%s: nothing is recommended: %s", name, d.Reason)
		return
	}
	if got := fmt.Sprintf("%d/%s", r.Port, r.Transport); got != want {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
	if !strings.HasPrefix(r.System.Note, note) || note == "" && r.System.Note != "" {
		t.Errorf("%s: the note is %q", name, r.System.Note)
	}
}

// TestTypedWins checks that a server named in the request is recommended if it responds, even if another one is better.
func TestTypedWins(t *testing.T) {
	t.Parallel()
	tls, typed := one+":5061/tls", one+":5071/tls"
	good := func() peer { return secured(time.Millisecond, true, true) }
	for _, c := range []struct {
		name      string
		port      uint16
		transport uri.Transport
		peers     func() map[string]peer
		want      string
		note      string
	}{
		{"slower", 5071, uri.TLS, func() map[string]peer { return map[string]peer{tls: good(), typed: secured(time.Second, true, true)} }, "5071/tls", ""},
		{"a port alone", 5071, "", func() map[string]peer { return map[string]peer{tls: good(), typed: secured(time.Second, true, true)} }, "5071/tls", ""},
		{"a bad certificate", 5071, uri.TLS, func() map[string]peer {
			return map[string]peer{tls: good(), typed: secured(time.Millisecond, true, false)}
		}, "5071/tls", "The server's certificate fails verification"},
		{"in the clear", 5060, uri.UDP, func() map[string]peer {
			return map[string]peer{tls: good(), one + ":5060/udp": answering(time.Second)}
		}, "5060/udp", "The server responds only without encryption, but calls require TLS: enable TLS there. Port 5061 responds over TLS."},
		{"a transport alone", 0, uri.TCP, func() map[string]peer {
			return map[string]peer{tls: good(), one + ":5060/tcp": answering(time.Second)}
		}, "5060/tcp", "The server responds only without encryption"},
		{"silent", 5071, uri.TLS, func() map[string]peer { return map[string]peer{tls: good()} }, "5061/tls", ""},
		{"the best of what was typed", 5071, "", func() map[string]peer {
			return map[string]peer{tls: good(), one + ":5071/udp": answering(1), typed: secured(time.Second, true, true)}
		}, "5071/tls", ""},
	} {
		d, _, _ := discover(t, pbx, c.peers, discovery.Request{Host: "pbx.test", Port: c.port, Transport: c.transport})
		recommends(t, c.name, d, c.want, c.note)
	}
}

// TestThisServer checks that an address at which this server itself listens is listed, but neither probed nor recommended.
func TestThisServer(t *testing.T) {
	t.Parallel()
	answersItself := func() map[string]peer {
		return map[string]peer{one + ":5061/tls": secured(time.Millisecond, true, true), one + ":5071/tls": secured(time.Second, true, true)}
	}
	dns := names{
		addresses: map[string][]netip.Addr{"pbx.test": addresses(one), "other.pbx.test": addresses("192.0.2.2")},
		srv:       map[string][]*net.SRV{"_sips._tcp.pbx.test": {{Target: "other.pbx.test.", Port: 5061}}},
	}
	for name, own := range map[string]*self.Server{"by address": {}, "by name": {}} {
		if name == "by address" {
			own.Listen(netip.MustParseAddrPort(one + ":5061"))
			own.Listen(netip.MustParseAddrPort("192.0.2.2:5061"))
		} else {
			own.Name("PBX.test", 5061)
			own.Name("other.pbx.test", 5061)
		}
		for port, want := range map[uint16]string{5071: "", 5061: "no other server answered with SIP: this server itself listens there"} {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, dns, answersItself(), func(c *discovery.Config) { c.Self = own })
				d, _ := b.finish(t, b.begin(t, discovery.Request{Host: "pbx.test", Port: port, Transport: uri.TLS}).ID)
				if want == "" {
					recommends(t, name, d, "5071/tls", "")
				} else if d.Recommended != nil || d.Reason != want {
					t.Errorf("%s: recommended %+v, the reason is %q", name, d.Recommended, d.Reason)
				}
				named := 0
				for _, a := range d.Attempts {
					if a.Error == "this server itself listens there" && a.Address.Port() == 5061 && a.Code == 0 {
						named++
					}
				}
				if named != 2 {
					t.Errorf("%s: this server is named %d times, want once an address: %+v", name, named, d.Attempts)
				}
				if slices.ContainsFunc(b.questions(), func(q string) bool { return strings.Contains(q, ":5061/") }) {
					t.Errorf("%s: this server was asked: %q", name, b.questions())
				}
			})
		}
	}
}

func TestFindsNothing(t *testing.T) {
	t.Parallel()
	nobody := func() map[string]peer { return nil }
	inside := names{addresses: map[string][]netip.Addr{"pbx.test": addresses("10.0.0.1", "::1")}}
	astray := names{srv: map[string][]*net.SRV{"_sip._udp.pbx.test": {{Target: "gone.test.", Port: 5060}}}}
	slow := pbx
	slow.delay = time.Hour
	for _, c := range []struct {
		name     string
		dns      names
		host     string
		reason   string
		attempts int
	}{
		{"silence everywhere", pbx, "pbx.test", "nothing answered with SIP", 7},
		{"no such name", names{}, "pbx.test", "pbx.test has no address in DNS", 0},
		{"SRV records that lead nowhere", astray, "pbx.test", "gone.test has no address in DNS", 0},
		{"DNS is silent", slow, "pbx.test", "the DNS query for pbx.test timed out", 0},
		{"private addresses", inside, "pbx.test", "the host has private addresses only", 2},
		{"an address", names{}, "192.0.2.9", "nothing answered with SIP", 7},
	} {
		d, took, _ := discover(t, c.dns, nobody, discovery.Request{Host: c.host})
		if d.Status != discovery.Failed || d.Reason != c.reason || d.Recommended != nil || d.CompletedAt == nil || len(d.Attempts) != c.attempts {
			t.Errorf("%s: %+v", c.name, d)
		}
		if took > 8*time.Second {
			t.Errorf("%s: took %s", c.name, took)
		}
	}
}

// TestTLSFirst checks that a port that speaks TLS is not also probed over plain TCP.
func TestTLSFirst(t *testing.T) {
	t.Parallel()
	silent := secured(time.Hour, true, true) // completes the handshake but never responds
	for name, peers := range map[string]func() map[string]peer{
		"answered":   func() map[string]peer { return map[string]peer{one + ":5061/tls": secured(1, true, true)} },
		"handshaken": func() map[string]peer { return map[string]peer{one + ":5061/tls": silent} },
	} {
		d, _, asked := discover(t, pbx, peers, discovery.Request{Host: "pbx.test"})
		if slices.Contains(asked, one+":5061/tcp") || len(d.Attempts) != 6 {
			t.Errorf("%s: %d attempts, asked %v", name, len(d.Attempts), asked)
		}
	}
}

// TestProgress checks the partial results that Get returns while probes run.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, pbx, map[string]peer{one + ":5060/udp": answering(1), one + ":5080/udp": answering(time.Second)}, nil)
		d := b.begin(t, discovery.Request{Host: "pbx.test"})
		if d.Status != discovery.Running || !strings.HasPrefix(d.ID, "disc_") || strings.Contains(d.ID, "-") {
			t.Errorf("begun as %+v", d)
		}
		var seen []int
		for range 6 {
			time.Sleep(500 * time.Millisecond)
			now := b.get(t, d.ID)
			seen = append(seen, len(now.Attempts))
			if now.Status != discovery.Running || len(now.Addresses) != 1 || now.Recommended != nil {
				t.Errorf("after %s: %+v", time.Since(d.StartedAt), now)
			}
		}
		// At 2 s the handshake on port 5061 times out. Each silent server is probed twice.
		if want := []int{1, 1, 2, 2, 3, 3}; !slices.Equal(seen, want) {
			t.Errorf("attempts over time %v, want %v", seen, want)
		}
		if last, _ := b.finish(t, d.ID); last.Status != discovery.Completed || len(last.Attempts) != 7 || last.Version > 10 {
			t.Errorf("ended as %+v", last)
		}
	})
}

func TestOneAtATimeAndResultsAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := sipstore.Discoveries{Store: memstore.New()}
		same := func(c *discovery.Config) { c.Store = store }
		peers := map[string]peer{one + ":5061/tls": secured(1, true, true)}
		here, there := newBench(t, pbx, peers, same), newBench(t, pbx, peers, same)
		r := discovery.Request{Host: "pbx.test"}
		first := here.begin(t, r)
		for _, b := range []bench{here, there} {
			if _, err := b.Start(t.Context(), org, discovery.Request{Host: "192.0.2.9"}); !errors.Is(err, callwright.ErrDiscoveryInProgress) {
				t.Errorf("a second one began: %v", err)
			}
		}
		other, err := there.Start(t.Context(), "other", r)
		if err != nil {
			t.Errorf("another organization's: %v", err)
		}
		here.finish(t, first.ID)
		if _, err := here.Get(t.Context(), org, other.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("another organization's is shown: %v", err)
		}

		if again, err := there.Start(t.Context(), org, r); err != nil || again.ID != first.ID || again.Recommended == nil {
			t.Errorf("asked again: %+v, %v", again, err)
		}
		fresh := there.begin(t, discovery.Request{Host: "pbx.test", Fresh: true})
		if fresh.ID == first.ID || fresh.Status != discovery.Running {
			t.Errorf("a fresh one is %+v", fresh)
		}
		there.finish(t, fresh.ID)
		second := here.begin(t, discovery.Request{Host: "pbx.test", Port: 5080})
		if second.ID == first.ID {
			t.Error("another port gives the same result")
		}
		here.finish(t, second.ID)

		time.Sleep(discovery.Kept)
		if _, err := here.Get(t.Context(), org, first.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("after its time: %v", err)
		}
		time.Sleep(discovery.DeadAfter)
		third := here.begin(t, r)
		if third.ID == first.ID {
			t.Error("an old result was given again")
		}
		if _, err := store.Get(t.Context(), org, first.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("an old one is still stored: %v", err)
		}
		here.finish(t, third.ID)
	})
}

func TestNodeDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, pbx, nil, nil)
		dead := discovery.Discovery{ID: "disc_dead", Org: org, Host: "pbx.test", Status: discovery.Running, StartedAt: time.Now().UTC(), Version: 1}
		if err := b.store.Begin(t.Context(), dead, time.Time{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(discovery.DeadAfter)
		if d := b.get(t, dead.ID); d.Status != discovery.Running {
			t.Errorf("too early: %+v", d)
		}
		time.Sleep(time.Second)
		if d := b.get(t, dead.ID); d.Status != discovery.Failed || d.Reason != "the server that ran the discovery has stopped: start another discovery" || d.CompletedAt == nil {
			t.Errorf("%+v", d)
		}
		b.finish(t, b.begin(t, discovery.Request{Host: "pbx.test"}).ID)
		time.Sleep(discovery.Kept)
		if _, err := b.Get(t.Context(), org, dead.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("after its time: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, pbx, map[string]peer{one + ":5060/udp": answering(1)}, nil)
		d := b.begin(t, discovery.Request{Host: "pbx.test"})
		time.Sleep(time.Second)
		began := time.Now()
		if err := b.Close(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("close: %v after %s", err, time.Since(began))
		}
		if d := b.get(t, d.ID); d.Status != discovery.Failed || d.Reason != "the server is stopping" || d.CompletedAt == nil || d.Recommended != nil {
			t.Errorf("%+v", d)
		}
		if _, err := b.Start(t.Context(), org, discovery.Request{Host: "pbx.test"}); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("started after Close: %v", err)
		}
	})
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t, pbx, nil, nil)
	for _, c := range []struct {
		r     discovery.Request
		field string
	}{
		{discovery.Request{}, "host"},
		{discovery.Request{Host: "a b"}, "host"},
		{discovery.Request{Host: "pbx.test:5060"}, "host"},
		{discovery.Request{Host: "sip:alice@pbx.test"}, "host"},
		{discovery.Request{Host: "tls://pbx.test"}, "host"},
		{discovery.Request{Host: "127.0.0.1"}, "host"},
		{discovery.Request{Host: "169.254.169.254"}, "host"},
		{discovery.Request{Host: "[fd00::1]"}, "host"},
		{discovery.Request{Host: "::ffff:10.0.0.1"}, "host"},
		{discovery.Request{Host: "2130706433"}, "host"},
		{discovery.Request{Host: "pbx.test", Transport: "sctp"}, "transport"},
	} {
		_, err := b.Start(t.Context(), org, c.r)
		e, ok := errors.AsType[*callwright.Error](err)
		if !ok || e.Code != callwright.CodeBadRequest || e.Field != c.field {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
	if asked := b.questions(); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
	if _, err := discovery.New(discovery.Config{}); err == nil {
		t.Error("made without what it needs")
	}
}

// moody is a store whose Update fails, or stores the discovery but returns an error.
type moody struct {
	discovery.Store
	mu   sync.Mutex
	lies int // number of updates that are stored but return an error
	lost int // number of updates that fail
}

var errStore = errors.New("the store is down")

func (m *moody) Update(ctx context.Context, d discovery.Discovery) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.lost > 0:
		m.lost--
		return errStore
	case m.lies > 0:
		m.lies--
		return errors.Join(m.Store.Update(ctx, d), errStore)
	default:
		return m.Store.Update(ctx, d)
	}
}

func TestStoreFails(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]*moody{"lost": {lost: 1}, "lies": {lies: 2}} {
		synctest.Test(t, func(t *testing.T) {
			store.Store = sipstore.Discoveries{Store: memstore.New()}
			b := newBench(t, pbx, map[string]peer{one + ":5061/tls": secured(1, true, true)}, func(c *discovery.Config) { c.Store = store })
			if d, _ := b.finish(t, b.begin(t, discovery.Request{Host: "pbx.test"}).ID); d.Status != discovery.Completed {
				t.Errorf("%s: %+v", name, d)
			}
		})
	}
}
