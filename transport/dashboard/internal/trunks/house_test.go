package trunks_test

import (
	"context"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

const (
	org = callwright.OrgID("org")
	one = "+14155550100"
	two = "+14155550101"
)

// somebody is a page.Authenticator that accepts every request as the same principal, with the given entitlements.
type somebody struct{ rights []callwright.Entitlement }

func (s somebody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: org, KeyID: "k", KeyName: "Robin", Entitlements: s.rights}, nil
}

// network fakes a network. The host plain.example.com has a SIP server that accepts only TCP at port 5060. Every other host has a SIP
// server that accepts only TLS at port 5061. Every callee is busy.
type network struct{}

func (network) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (network) ReleaseInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (network) Observe(context.Context, callwright.OrgID, string, string, health.Evidence) {}

func (network) Options(context.Context, failover.Server, sip.TLSVerification) health.Evidence {
	return health.Evidence{Alive: true}
}

func (network) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (network) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("203.0.113.7")}, nil
}

func (network) Probe(_ context.Context, p discovery.Probe) discovery.Answer {
	a := discovery.Answer{Attempt: discovery.Attempt{Address: p.Address, Transport: p.Transport, Error: "refused"}}
	secure := p.Transport == uri.TLS && p.Address.Port() == 5061
	plain := p.Transport == uri.TCP && p.Address.Port() == 5060
	if p.Host == "plain.example.com" && plain || p.Host != "plain.example.com" && secure {
		a.Error, a.Code, a.UserAgent = "", 200, "<script>alert(1)</script>"
	}
	return a
}

func (network) Place(_ context.Context, _ testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error) {
	observe(ladder.Event{At: time.Now(), Attempt: 1, Method: "INVITE", Status: 180})
	return nil, &testcall.Failure{Status: testcall.Busy, Code: 486, Reason: "the callee is busy"}
}

// house serves the dashboard over real services with stores in memory.
type house struct {
	*httptest.Server
	t       *testing.T
	tenants orgstore.Tenants
	client  *http.Client
	trunks  *sip.Service
	log     sipstore.CallLog
	status  sipstore.Statuses
	drafts  sipstore.Drafts
	told    sipstore.Deliveries
	tests   sipstore.TestCalls
	proofs  *proof.Service
	work    *memstore.Work
	asks    atomic.Bool   // numbers must be proven
	spoken  chan []string // announcements of proof calls
}

// Proven reports whether the organization has proven the number. While asks is not set, it reports every number as proven.
func (h *house) Proven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	if !h.asks.Load() {
		return true, nil
	}
	p, err := h.proofs.Get(ctx, org, number.String())
	return err == nil && p.State == proof.StateProven, nil
}

// Announce sends the words of the announcement to h.spoken.
func (h *house) Announce(_ context.Context, a proof.Announcement) error {
	h.spoken <- a.Parts
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func open(t *testing.T, rights ...callwright.Entitlement) *house {
	t.Helper()
	store := memstore.New()
	tenants, work := orgstore.Tenants{Store: store}, memstore.NewWork(store, nil)
	if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: org}); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, tenants: tenants, log: sipstore.CallLog{Store: store}, status: sipstore.Statuses{Store: store}, drafts: sipstore.Drafts{Store: store}, told: sipstore.Deliveries{Store: store}, tests: sipstore.TestCalls{Store: store}, work: work, spoken: make(chan []string, 1)}
	stored := sipstore.Trunks{Store: store}
	h.trunks = must(sip.New(sip.Config{
		Store: stored, Atomic: store, Numbers: network{}, Statuses: h.status, Registrations: sipstore.Registrations{Store: store},
		Deliveries: h.told, Proofs: h,
		Monitor: must(monitor.New(monitor.Config{
			Statuses: h.status, Deliveries: h.told, Trunks: stored, Attempts: h.log, Atomic: store, Work: work, Prober: network{}, Organizations: tenants,
		})),
		Codecs: []string{"PCMU", "PCMA"}, DerivationKey: callwright.Secret(strings.Repeat("k", 32)),
	}))
	looks := must(discovery.New(discovery.Config{
		Store: sipstore.Discoveries{Store: store}, Prober: network{},
		Resolver: must(resolve.New(resolve.Config{DNS: network{}})),
	}))
	tests := must(testcall.New(testcall.Config{Store: h.tests, Trunks: h.trunks, Line: network{}, Work: work}))
	h.proofs = must(proof.New(proof.Config{
		Store: sipstore.Proofs{Store: store}, Atomic: store, Work: work, Trunks: h.trunks, Announcer: h, Key: callwright.Secret(strings.Repeat("k", 32)),
	}))
	pages := must(dashboard.New(dashboard.Config{Authenticator: somebody{rights},
		Trunks: h.trunks, Discoveries: looks, TestCalls: tests, Proofs: h.proofs,
		CallLog: must(calllog.New(calllog.Config{Store: h.log, Leases: memstore.Leases{Store: store}, Monitor: network{}, Node: "n"})),
		Setup: must(setup.New(setup.Config{Work: work, Trunks: h.trunks, Organizations: tenants, Drafts: h.drafts, Regions: []setup.Region{
			{Name: "home", Addresses: []string{"192.0.2.10"}, Host: "sip.example.net", Port: 5061, RTPLow: 10000, RTPHigh: 20000},
			{Name: "mute", Addresses: []string{"198.51.100.10"}, Port: 5061, RTPLow: 10000, RTPHigh: 20000},
		}})),
	}))
	h.Server = httptest.NewServer(pages)
	t.Cleanup(func() {
		for _, end := range []func(context.Context) error{pages.Close, looks.Close, tests.Close, h.proofs.Close} {
			if err := end(context.Background()); err != nil {
				t.Error(err)
			}
		}
		h.Close()
	})
	h.client = &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}
	return h
}

// attach attaches a number in both directions, and returns the outbound trunk.
func (h *house) attach(of callwright.OrgID, number string) sip.Trunk {
	h.t.Helper()
	done, err := h.trunks.Attach(h.t.Context(), of, sip.Attachment{Numbers: []string{number}, Directions: []sip.DirectionInput{
		{Type: sip.Inbound}, {Type: sip.Outbound, Endpoint: new("sip:pbx.example.com")},
	}})
	if err != nil || len(done.Configured) != 1 {
		h.t.Fatal(done, err)
	}
	return must(h.trunks.Trunk(h.t.Context(), of, number, sip.Outbound))
}

var token = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// want requests a page, or posts a form to it, and checks the status and the texts of the final answer. A text that begins with "!" must be
// absent. want returns the address of the final answer.
func (h *house) want(status int, path string, form url.Values, texts ...string) string {
	h.t.Helper()
	if form != nil {
		form.Set("csrf", h.token())
	}
	r := pagetest.Send(h.t, h.client, h.URL+path, form)
	body := r.Body
	if r.Status != status {
		h.t.Errorf("%s: %d\n%s", path, r.Status, body)
	}
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if strings.Contains(body, text) == not {
			h.t.Errorf("%s: %q is there: %v\n%s", path, text, not, body)
		}
	}
	return r.URL.RequestURI()
}

// token returns a CSRF token for forms.
func (h *house) token() string {
	h.t.Helper()
	found := token.FindStringSubmatch(pagetest.Send(h.t, h.client, h.URL+"/trunks/new", nil).Body)
	if found == nil {
		h.t.Fatal("no form")
	}
	return found[1]
}
