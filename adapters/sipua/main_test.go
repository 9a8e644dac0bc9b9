package sipua_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// testT1 is RFC 3261's T1 in these tests. Timers of 64*T1 then take about two thirds of a second.
const testT1 = 10 * time.Millisecond

// patience is the maximum time that a test waits for an event.
const patience = 10 * time.Second

func TestMain(m *testing.M) {
	sip.SetTimers(testT1, 8*testT1, 10*testT1) // sipgo's timers are global
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

const (
	alice = callwright.PhoneNumber("+15550100001")
	bob   = callwright.PhoneNumber("+15550100002")
	org   = callwright.OrgID("org")
)

var authority = sync.OnceValues(func() (*testca.Authority, error) {
	folder, err := os.MkdirTemp("", "testca")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	return testca.Open(folder)
})

func issue(t testing.TB, hosts ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	ca, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return cert, ca.Pool()
}

// media is a sip.Media without a network: it sends nothing, and its sessions return only the frames that a test injects.
type media struct {
	next atomic.Int32
	open atomic.Int32
	full bool // Open fails for lack of a port

	mu       sync.Mutex
	sessions []*session
}

func (m *media) Open(context.Context) (trunk.MediaSession, error) {
	if m.full {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "no port")
	}
	m.open.Add(1)
	s := &session{
		media: m, local: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(20000+2*m.next.Add(1))),
		closed: make(chan struct{}), frames: make(chan error, 1),
	}
	m.mu.Lock()
	m.sessions = append(m.sessions, s)
	m.mu.Unlock()
	return s, nil
}

func (m *media) last(t testing.TB) *session {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sessions) == 0 {
		t.Fatal("no media was opened")
	}
	return m.sessions[len(m.sessions)-1]
}

type session struct {
	media  *media
	local  netip.AddrPort
	closed chan struct{}
	frames chan error
	once   sync.Once
	queued atomic.Int32

	mu      sync.Mutex
	applied []sdp.Negotiated
}

func (s *session) Local() netip.AddrPort { return s.local }

func (s *session) Apply(n sdp.Negotiated) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = append(s.applied, n)
	return nil
}

func (s *session) negotiated() []sdp.Negotiated {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

func (s *session) Rate() int { return 8000 }

func (s *session) Read(ctx context.Context) (trunk.Frame, error) {
	select {
	case err := <-s.frames:
		return trunk.Frame{In: make([]int16, 160)}, err
	case <-s.closed:
		return trunk.Frame{}, io.EOF
	case <-ctx.Done():
		return trunk.Frame{}, ctx.Err()
	}
}

func (s *session) Write(_ context.Context, samples []int16) error {
	s.queued.Add(int32(len(samples)))
	return nil
}

func (s *session) Queued() int                            { return int(s.queued.Load()) }
func (s *session) Flush() int                             { return int(s.queued.Swap(0)) }
func (s *session) SendDTMF(context.Context, string) error { return nil }
func (s *session) Stats() trunk.MediaStats                { return trunk.MediaStats{Sent: 7} }

func (s *session) Close() error {
	s.once.Do(func() { close(s.closed); s.media.open.Add(-1) })
	return nil
}

// routes is a sip.Routes that returns the same route for every number.
type routes struct {
	mu      sync.Mutex
	route   trunk.Route
	inbound error
	judge   func(to callwright.PhoneNumber, from trunk.Peer) error // returns the error of Inbound; if nil, inbound is the error
}

func (r *routes) Outbound(context.Context, callwright.OrgID, callwright.PhoneNumber) (trunk.Route, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.route, nil
}

func (r *routes) Inbound(_ context.Context, to callwright.PhoneNumber, from trunk.Peer) (trunk.Route, error) {
	r.mu.Lock()
	route, err, judge := r.route, r.inbound, r.judge
	r.mu.Unlock()
	if judge != nil {
		err = judge(to, from)
	}
	return route, err
}

// agent is a user agent under test, with its media and its routes.
type agent struct {
	*sipua.UA
	media  *media
	routes *routes
}

func newAgent(t testing.TB, change func(*sipua.Config)) *agent {
	t.Helper()
	cert, pool := issue(t, "127.0.0.1", "localhost")
	a := &agent{media: &media{}, routes: &routes{route: trunk.Route{Org: org, TrunkID: "trunk", Codecs: []string{"PCMU", "PCMA"}}}}
	cfg := sipua.Config{
		Listen: "127.0.0.1:0", Certificates: []tls.Certificate{cert}, Roots: pool, Media: a.media, Routes: a.routes,
		AllowPrivate: true, MaxCalls: 50,
	}
	if change != nil {
		change(&cfg)
	}
	ua, err := sipua.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a.UA = ua
	running := make(chan error, 1)
	go func() { running <- ua.Run(context.Background()) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := ua.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-running; err != nil {
			t.Errorf("run: %v", err)
		}
		if n := ua.Calls(); n != 0 {
			t.Errorf("%d calls are left", n)
		}
		if n := a.media.open.Load(); n != 0 {
			t.Errorf("%d media sessions are open", n)
		}
	})
	return a
}

// callsTo sets the servers of the agent's route.
func (a *agent) callsTo(t testing.TB, addresses ...string) {
	t.Helper()
	var servers []uri.URI
	for _, address := range addresses {
		u, err := uri.Parse("sip:" + address + ";transport=tls")
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, u)
	}
	a.routes.mu.Lock()
	a.routes.route.Servers = servers
	a.routes.mu.Unlock()
}

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func ends(t testing.TB, l call.Leg) call.HangupReason {
	t.Helper()
	select {
	case <-l.Done():
		return l.Ending()
	case <-time.After(patience):
		t.Fatal("the call does not end")
		return call.HangupReason{}
	}
}

func endingOf(t testing.TB, err error) call.HangupReason {
	t.Helper()
	e, ok := errors.AsType[*call.HangupReason](err)
	if !ok {
		t.Fatalf("%v is no Ending", err)
	}
	return *e
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}
