package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/sip/uri"
)

// sipFakes fakes the network of a house's trunks.
type sipFakes struct {
	line   testLine
	looker looker
}

// trunks returns the service of trunks over the house's stores.
func (h *house) trunks(numbers sip.InboundNumbers, work callwright.Work) *sip.Service {
	statuses, trunks := sipstore.Statuses{Store: h.store}, sipstore.Trunks{Store: h.store}
	log, tenants := sipstore.CallLog{Store: h.store}, orgstore.Tenants{Store: h.store}
	watcher := must(monitor.New(monitor.Config{
		Statuses: statuses, Trunks: trunks, Attempts: log, Atomic: h.store, Work: work, Prober: optionsProber{},
		Hooks: alertHooks{}, Mailer: alertMailer{}, Organizations: tenants, Runtime: callwright.Runtime{Logger: h.logger},
	}))
	return must(sip.New(sip.Config{
		Store: trunks, Atomic: h.store, Numbers: numbers, Statuses: statuses,
		Registrations: sipstore.Registrations{Store: h.store}, Monitor: watcher,
		Codecs: []string{"PCMU", "PCMA"}, DerivationKey: "0123456789abcdef0123456789abcdef",
		Numbering: orgstore.Tenants{Store: h.store}, Proofs: anyProof{h}, Runtime: callwright.Runtime{Logger: h.logger},
	}))
}

// anyProof reports every number as proven, unless the house's line requires proofs.
type anyProof struct{ h *house }

func (p anyProof) Proven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	if !p.h.line.proves() {
		return true, nil
	}
	return proof.Proven{Store: sipstore.Proofs{Store: p.h.store}}.Proven(ctx, org, number)
}

// numberProofs returns the service of proofs. Its calls use the house's fake line.
func (h *house) numberProofs(trunks *sip.Service, work *memstore.Work) *proof.Service {
	h.line.work, h.line.spoken = work, make(chan []string, 1)
	s := must(proof.New(proof.Config{
		Store: sipstore.Proofs{Store: h.store}, Atomic: h.store, Work: work, Trunks: trunks, Announcer: &h.line,
		Key: "0123456789abcdef0123456789abcdef", Runtime: callwright.Runtime{Logger: h.logger},
	}))
	h.t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			h.t.Error(err)
		}
	})
	return s
}

// sipCalls returns the service of the trunks' call log. It discards evidence about servers.
func (h *house) sipCalls() *calllog.Service {
	return must(calllog.New(calllog.Config{
		Store: sipstore.CallLog{Store: h.store}, Leases: memstore.Leases{Store: h.store}, Monitor: unobserved{}, Node: "n1",
		Numbering: orgstore.Tenants{Store: h.store}, Runtime: callwright.Runtime{Logger: h.logger},
	}))
}

// sipSetup returns the set-up service of a deployment with two regions.
func (h *house) sipSetup(trunks *sip.Service) *setup.Service {
	return must(setup.New(setup.Config{
		Trunks: trunks, Organizations: orgstore.Tenants{Store: h.store}, Drafts: sipstore.Drafts{Store: h.store}, Work: memstore.NewWork(h.store, nil), Regions: []setup.Region{
			{Name: "home", Addresses: []string{"192.0.2.10", "192.0.2.11"}, Host: "sip.example.net", Port: 5061, RTPLow: 10000, RTPHigh: 20000},
			{Name: "away", Addresses: []string{"198.51.100.7"}, Port: 5071, RTPLow: 30000, RTPHigh: 30100},
		},
	}))
}

// unobserved discards the evidence of calls about servers.
type unobserved struct{}

func (unobserved) Observe(context.Context, callwright.OrgID, string, string, health.Evidence) {}

// organization stores a change of the house's organization.
func (h *house) organization(change func(o *callwright.Organization)) {
	h.t.Helper()
	tenants := orgstore.Tenants{Store: h.store}
	o, err := tenants.Organization(h.t.Context(), h.org)
	if err != nil {
		h.t.Fatal(err)
	}
	change(&o)
	if err := tenants.UpdateOrganization(h.t.Context(), o); err != nil {
		h.t.Fatal(err)
	}
}

// testCalls returns the service of test calls. Its calls use the house's fake line.
func (h *house) testCalls(trunks *sip.Service, work callwright.Work) *testcall.Service {
	s := must(testcall.New(testcall.Config{
		Store: sipstore.TestCalls{Store: h.store}, Trunks: trunks, Line: &h.line, Work: work,
	}))
	h.t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			h.t.Error(err)
		}
	})
	return s
}

// discoveries returns the service of discoveries. It probes the house's fake network.
func (h *house) discoveries() *discovery.Service {
	h.looker.wait = make(chan struct{})
	s := must(discovery.New(discovery.Config{
		Store: sipstore.Discoveries{Store: h.store}, Prober: &h.looker,
		Resolver: must(resolve.New(resolve.Config{DNS: names{}})),
	}))
	h.t.Cleanup(func() {
		h.looker.answer()
		if err := s.Close(context.Background()); err != nil {
			h.t.Error(err)
		}
	})
	return s
}

// names is a DNS resolver that knows only pbx.example.com.
type names struct{}

func (names) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	if strings.TrimSuffix(name, ".") != "pbx.example.com" || service != "sips" {
		return "", nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return "_" + service + "._" + proto + "." + name, []*net.SRV{{Target: "pbx.example.com.", Port: 5061, Priority: 10, Weight: 5}}, nil
}

func (names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	if strings.TrimSuffix(host, ".") != "pbx.example.com" || network == "ip6" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr("203.0.113.7")}, nil
}

// looker is a prober that finds a server at the TLS port. Its probes wait until answer is called.
type looker struct {
	wait chan struct{}
	once sync.Once
}

func (l *looker) answer() { l.once.Do(func() { close(l.wait) }) }

func (l *looker) Probe(ctx context.Context, p discovery.Probe) discovery.Answer {
	a := discovery.Answer{Attempt: discovery.Attempt{Address: p.Address, Transport: p.Transport}}
	select {
	case <-l.wait:
	case <-ctx.Done():
		a.Error = "no answer in time"
		return a
	}
	if p.Transport != uri.TLS || p.Address.Port() != 5061 {
		a.Error = "the connection was refused"
		return a
	}
	a.Code, a.ResponseTime, a.UserAgent = 200, 31*time.Millisecond, "Asterisk PBX 20.5"
	a.TLS = &discovery.Certificate{Version: "TLS 1.3", Chain: true, ExpiresAt: began}
	a.Headers = []fingerprint.Header{{Name: "Server", Value: "Asterisk PBX 20.5"}}
	a.Methods = []string{"INVITE", "ACK"}
	return a
}

// testLine fakes the line of test calls and of proof calls. It answers a test call and hangs up immediately, or is busy if busy is set.
type testLine struct {
	mu     sync.Mutex
	busy   bool
	proof  bool          // numbers require proofs
	spoken chan []string // announcements of proof calls
	work   *memstore.Work
}

func (l *testLine) proves() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proof
}

// Announce sends the words of the announcement to l.spoken.
func (l *testLine) Announce(_ context.Context, a proof.Announcement) error {
	l.spoken <- a.Parts
	return nil
}

func (l *testLine) Place(
	_ context.Context, _ testcall.Placement, observe func(ladder.Event),
) (testcall.Leg, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy {
		return nil, &testcall.Failure{Status: testcall.Busy, Code: 486, Reason: "the callee is busy"}
	}
	observe(ladder.Event{At: time.Now(), Attempt: 1, Note: "connected", Transport: "TLS 1.3", Detail: "certificate verified"})
	observe(ladder.Event{At: time.Now(), Attempt: 1, Method: "INVITE", Status: 180})
	return shortLeg{}, nil
}

// shortLeg is a call that ends as soon as it is answered.
type shortLeg struct{}

func (shortLeg) Info() testcall.Carriage {
	return testcall.Carriage{Codec: "PCMU", SRTPSuite: "AES_CM_128_HMAC_SHA1_80", TLS: "TLS 1.3", Peer: "203.0.113.7:5061"}
}

func (shortLeg) Rate() int                            { return 8000 }
func (shortLeg) Write(context.Context, []int16) error { return io.EOF }
func (shortLeg) Queued() int                          { return 0 }
func (shortLeg) Read(context.Context) ([]int16, error) {
	return nil, io.EOF
}
func (shortLeg) Hangup(context.Context) error { return nil }

func (shortLeg) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// optionsProber reports every server as alive.
type optionsProber struct{}

func (optionsProber) Options(context.Context, failover.Server, sip.TLSVerification) health.Evidence {
	return health.Evidence{Alive: true}
}

// alertHooks accepts https URLs for alerts.
type alertHooks struct{ notifier }

func (alertHooks) SendNotice(context.Context, string, alert.Notice) error { return nil }

// alertMailer discards mail.
type alertMailer struct{}

func (alertMailer) SendMail(context.Context, string, string, string, string) error { return nil }
