package discovery_test

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/resolve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a fake DNS. The keys of its maps have the form of "pbx.test" for addresses and "_sips._tcp.pbx.test" for SRV records. Each
// look-up lasts for the duration delay.
type names struct {
	delay     time.Duration
	addresses map[string][]netip.Addr
	srv       map[string][]*net.SRV
}

func (n names) wait(ctx context.Context) error {
	select {
	case <-time.After(n.delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n names) LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error) {
	if err := n.wait(ctx); err != nil {
		return "", nil, err
	}
	if found := n.srv["_"+service+"._"+proto+"."+strings.TrimSuffix(name, ".")]; len(found) > 0 {
		return "", found, nil
	}
	return "", nil, &net.DNSError{Name: name, IsNotFound: true}
}

func (n names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	if err := n.wait(ctx); err != nil {
		return nil, err
	}
	if found := n.addresses[strings.TrimSuffix(host, ".")]; len(found) > 0 {
		return found, nil
	}
	return nil, &net.DNSError{Name: host, IsNotFound: true}
}

// peer is a fake server. A prober finds it by its address and transport, such as "192.0.2.1:5061/tls".
type peer struct {
	took      time.Duration
	answer    discovery.Answer
	wantsUser bool // responds only to a Request-URI with a user part
}

// prober is a discovery.Prober that reaches only the given peers. At other addresses, no response arrives.
type prober struct {
	peers map[string]peer

	mu    sync.Mutex
	asked []string // one entry per probe, such as "192.0.2.1:5061/tls user"
}

func (p *prober) Probe(ctx context.Context, q discovery.Probe) discovery.Answer {
	at := q.Address.String() + "/" + string(q.Transport)
	p.mu.Lock()
	p.asked = append(p.asked, strings.TrimSpace(at+" "+q.User))
	there, ok := p.peers[at]
	p.mu.Unlock()
	a := there.answer
	a.Address, a.Transport, a.ResponseTime = q.Address, q.Transport, there.took
	if ok && (q.User != "" || !there.wantsUser) {
		select {
		case <-time.After(there.took):
			return a
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
	a.Code, a.ResponseTime, a.Error = 0, 0, "no answer in time"
	return a
}

func (p *prober) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// answering returns a peer that responds with 200 after a delay.
func answering(took time.Duration) peer {
	return peer{took: took, answer: discovery.Answer{Attempt: discovery.Attempt{Code: 200}}}
}

// secured returns a peer that responds over TLS with a certificate for which Chain and Name are as given.
func secured(took time.Duration, chain, name bool) peer {
	p := answering(took)
	p.answer.TLS = &discovery.Certificate{Version: "TLS 1.3", Chain: chain, Name: name, ExpiresAt: time.Now().Add(time.Hour)}
	return p
}

const org = callwright.OrgID("org")

// pbx is a DNS with the host pbx.test, at the address in the constant one.
var pbx = names{addresses: map[string][]netip.Addr{"pbx.test": addresses(one)}}

// bench contains a service and the fakes that it depends on.
type bench struct {
	*discovery.Service
	store discovery.Store
	*prober
}

func newBench(t *testing.T, dns names, peers map[string]peer, change func(*discovery.Config)) bench {
	t.Helper()
	resolver, err := resolve.New(resolve.Config{DNS: dns})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{prober: &prober{peers: peers}}
	cfg := discovery.Config{Store: sipstore.Discoveries{Store: memstore.New()}, Resolver: resolver, Prober: b.prober}
	if change != nil {
		change(&cfg)
	}
	b.store = cfg.Store
	if b.Service, err = discovery.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// begin starts a discovery, and stops the test if it is refused.
func (b bench) begin(t *testing.T, r discovery.Request) discovery.Discovery {
	t.Helper()
	d, err := b.Start(t.Context(), org, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (b bench) get(t *testing.T, id string) discovery.Discovery {
	t.Helper()
	d, err := b.Get(t.Context(), org, id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// finish waits until a discovery has ended, and returns it and the time that passed.
func (b bench) finish(t *testing.T, id string) (discovery.Discovery, time.Duration) {
	t.Helper()
	began := time.Now()
	for {
		time.Sleep(10 * time.Millisecond)
		if d := b.get(t, id); d.Status != discovery.Running {
			return d, time.Since(began)
		}
	}
}

// discover runs one discovery in a synctest bubble. It returns the result, the duration and the probes.
func discover(t *testing.T, dns names, peers func() map[string]peer, r discovery.Request) (d discovery.Discovery, took time.Duration, asked []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dns, peers(), nil)
		d, took = b.finish(t, b.begin(t, r).ID)
		asked = b.questions()
	})
	return d, took, asked
}
