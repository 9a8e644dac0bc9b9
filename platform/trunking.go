package platform

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/adapters/pemfile"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/ban"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/registration"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/sip/trusted"
	"github.com/callwright/callwright/speech/tts"
)

// node is the name of this process, unique among the processes that share a database.
type node string

func newNode() node { return node(new(callwright.UUIDs).New()) }

// newSelf returns a holder of this server's addresses, which are set when the server listens.
func newSelf() *self.Server { return new(self.Server) }

// newResolver returns a resolver that queries --dns-server, or else the system's DNS server.
func newResolver(c Config, own *self.Server, rt callwright.Runtime) (*resolve.Resolver, error) {
	dns := &net.Resolver{PreferGo: c.DNSServer != ""}
	if c.DNSServer != "" {
		dns.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, c.DNSServer)
		}
	}
	return resolve.New(resolve.Config{DNS: dns, Self: own, Runtime: rt})
}

// identity holds the server's SIP certificate and the roots for peers' certificates. Both are read again when their files change.
type identity struct{ *pemfile.Keeper }

func newIdentity(lc fx.Lifecycle, c Config, ca *testca.Authority, rt callwright.Runtime) (identity, error) {
	k, err := pemfile.New(pemfile.Config{
		Read: func() (tls.Certificate, *x509.CertPool, error) {
			certificate, err := ownCertificate(c, ca)
			if err != nil {
				return certificate, nil, err
			}
			roots, err := peerRoots(c, ca)
			return certificate, roots, err
		},
		Files: slices.DeleteFunc([]string{c.SIPCert, c.SIPKey, c.SIPRoots}, func(name string) bool { return name == "" }),
		Name:  "the SIP certificate", Hosts: []string{c.PublicHost}, Runtime: rt,
	})
	if err != nil {
		return identity{}, err
	}
	lc.Append(runUntilStop(endless(k.Run)))
	return identity{k}, nil
}

// ownCertificate returns the certificate for SIP peers: from --sip-cert, or from the test authority.
func ownCertificate(c Config, ca *testca.Authority) (tls.Certificate, error) {
	if c.SIPCert != "" {
		if err := checkKeyFile(c.SIPKey); err != nil {
			return tls.Certificate{}, err
		}
		certificate, err := tls.LoadX509KeyPair(c.SIPCert, c.SIPKey)
		if err != nil {
			return certificate, fmt.Errorf("--sip-cert and --sip-key: %w", err)
		}
		return certificate, nil
	}
	return ca.Issue("localhost", c.PublicIP.String(), c.PublicHost)
}

// peerRoots returns the roots for peers' certificates: the system's roots, the server's own test authority, and
// the file of --sip-roots.
func peerRoots(c Config, ca *testca.Authority) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	files := []string{ca.CertFile()}
	if c.SIPRoots != "" {
		files = append(files, c.SIPRoots)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, errors.New(file + ": must contain a certificate in PEM")
		}
	}
	return pool, nil
}

func newProber(lc fx.Lifecycle, c Config, s shares, id identity, r *resolve.Resolver, own *self.Server, rt callwright.Runtime) (*probe.Prober, error) {
	local, err := listenIP(c.SIPAddr)
	if err != nil {
		return nil, err
	}
	p, err := probe.New(probe.Config{
		Local:    local,
		Resolver: r, Credentials: id.Certificates, PublicHost: c.PublicIP.String(), AllowPrivate: c.allowsPrivate(),
		Self: own, MaxIdle: s.probes, Runtime: rt,
	})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(p.Close))
	return p, nil
}

// monitorParts lists the dependencies of the trunks' monitor.
type monitorParts struct {
	fx.In
	DB      *bunstore.DB
	Work    callwright.Work
	Prober  *probe.Prober
	Mailer  callwright.Mailer
	Hooks   *webhook.Sender
	Runtime callwright.Runtime

	Deliveries *delivery.Log
}

func newMonitor(p monitorParts) (*monitor.Service, error) {
	return monitor.New(monitor.Config{
		Statuses: sipstore.Statuses{DB: p.DB}, Trunks: sipstore.Trunks{DB: p.DB}, Attempts: sipstore.CallLog{DB: p.DB}, Atomic: p.DB,
		Work: p.Work, Prober: p.Prober, Mailer: p.Mailer, Hooks: p.Hooks, Organizations: orgstore.Tenants{DB: p.DB},
		Deliveries: sipstore.Deliveries{DB: p.DB}, HookLog: p.Deliveries, Runtime: p.Runtime,
	})
}

// trunkParts lists the dependencies of the trunk service.
type trunkParts struct {
	fx.In
	Config  Config
	DB      *bunstore.DB
	Numbers *agents.Service
	Monitor *monitor.Service
	Self    *self.Server
	Trusted *trusted.Set
	Secrets secrets
	Runtime callwright.Runtime
}

func newTrunks(p trunkParts) (*sip.Service, error) {
	c := sip.Config{
		Store: sipstore.Trunks{DB: p.DB}, Atomic: p.DB, Numbers: p.Numbers,
		Statuses: sipstore.Statuses{DB: p.DB}, Registrations: sipstore.Registrations{DB: p.DB}, Monitor: p.Monitor,
		Deliveries: sipstore.Deliveries{DB: p.DB}, Numbering: orgstore.Tenants{DB: p.DB},
		Reservations:  porting.Reserved{Reservations: portingstore.Requests{DB: p.DB}},
		Codecs:        codecs.Names(),
		DerivationKey: p.Secrets.RegisterPasswords, Self: p.Self, Changed: p.Trusted.Changed, AllowPrivate: p.Config.allowsPrivate(), Runtime: p.Runtime,
	}
	if p.Config.NumberProof == proofCall {
		c.Proofs = proof.Proven{Store: sipstore.Proofs{DB: p.DB}}
	}
	return sip.New(c)
}

// newCallLog returns the call log. The call log's heartbeat, which covers the node's records, starts before the SIP user agent opens and
// stops after the user agent has closed.
func newCallLog(
	lc fx.Lifecycle, c Config, db *bunstore.DB, m *monitor.Service, n node, rt callwright.Runtime,
) (*calllog.Service, error) {
	s, err := calllog.New(calllog.Config{
		Store: sipstore.CallLog{DB: db}, Leases: bunstore.Leases{DB: db}, Monitor: m, Numbering: orgstore.Tenants{DB: db},
		Node: string(n), Keep: time.Duration(c.CallLogDays) * 24 * time.Hour, Runtime: rt,
	})
	if err != nil {
		return nil, err
	}
	lc.Append(runUntilStop(endless(s.Run)))
	return s, nil
}

// codecs lists the codecs of this build, in the order in which the server offers them.
var codecs = codec.Set{g711.PCMU(), g711.PCMA(), opus.Engine(), g722.Engine()}

// endless returns a function that calls run and ignores its error, which is always nil.
func endless(run func(context.Context) error) func(context.Context) {
	return func(ctx context.Context) { _ = run(ctx) }
}

func newMedia(c Config, rt callwright.Runtime) (*rtpmedia.Media, error) {
	m, err := rtpmedia.New(rtpmedia.Config{
		IP: c.MediaIP, Advertise: c.PublicIP, Codecs: codecs.New, Runtime: rt,
		Ports: rtpmedia.PortRange(c.RTPPorts),
	})
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("--media-ip %s: %w: choose an address of this machine (default: that of --sip-addr); "+
			"set the address at which peers reach it with --public-ip", c.MediaIP, err)
	}
	return m, nil
}

// lineParts lists the dependencies of the SIP user agent.
type lineParts struct {
	fx.In
	Config   Config
	Shares   shares
	Identity identity
	Media    *rtpmedia.Media
	Trunks   *sip.Service
	CallLog  *calllog.Service
	Resolver *resolve.Resolver
	Self     *self.Server
	Trusted  *trusted.Set
	DB       *bunstore.DB
	Node     node
	Runtime  callwright.Runtime
}

// newTrusted returns the set of trusted addresses: those of the trunks, and those given with --sip-trusted. The set follows the trunks
// until the platform stops.
func newTrusted(lc fx.Lifecycle, c Config, db *bunstore.DB, r *resolve.Resolver, rt callwright.Runtime) (*trusted.Set, error) {
	s, err := trusted.New(trusted.Config{Store: sipstore.Trunks{DB: db}, Resolver: r, Always: c.SIPTrusted, Runtime: rt})
	if err != nil {
		return nil, err
	}
	lc.Append(runUntilStop(endless(s.Run)))
	return s, nil
}

func newLine(lc fx.Lifecycle, p lineParts) (*sipua.UA, error) {
	ua, err := sipua.New(sipua.Config{
		Listen: p.Config.SIPAddr, Credentials: p.Identity.Certificates,
		PublicHost: p.Config.PublicIP.String(), Media: p.Media, Routes: p.Trunks, Transfers: p.Trunks, Observer: p.CallLog,
		Resolver: p.Resolver, Self: p.Self, MaxCalls: p.Shares.lineCalls(), MaxConnections: p.Shares.sip,
		MaxConnectionsPerIP: p.Shares.sipPerAddress, Trusted: p.Trusted.Contains, Serves: p.Trusted.Serves, AllowPrivate: p.Config.allowsPrivate(), Runtime: p.Runtime,
	})
	if err != nil {
		return nil, notListening("--sip-addr", p.Config.SIPAddr, err)
	}
	bans, err := ban.New(ban.Config{Leases: bunstore.Leases{DB: p.DB}, Line: ua, Node: string(p.Node), Trusted: p.Trusted.Contains, Runtime: p.Runtime})
	if err != nil {
		return nil, errors.Join(err, ua.Close(context.Background()))
	}
	lc.Append(runUntilStop(endless(bans.Run)))
	lc.Append(fx.StopHook(ua.Close))
	lc.Append(runUntilStop(func(ctx context.Context) { _ = ua.Run(ctx) }))
	return ua, nil
}

// newSetup returns the service with setup information for customers. The information contains the addresses in the settings, and the port
// on which SIP actually listens.
func newSetup(
	c Config, db *bunstore.DB, trunks *sip.Service, line *sipua.UA, own *self.Server, work callwright.Work, rt callwright.Runtime,
) (*setup.Service, error) {
	region, err := regionOf(c, line.Addr())
	if err != nil {
		return nil, err
	}
	own.Name(region.Host, uint16(region.Port))
	return setup.New(setup.Config{
		Trunks: trunks, Organizations: orgstore.Tenants{DB: db}, Drafts: sipstore.Drafts{DB: db}, Regions: []setup.Region{region}, Work: work,
		Runtime: rt,
	})
}

// regionOf returns the region of this server. listening is its SIP address.
func regionOf(c Config, listening net.Addr) (setup.Region, error) {
	_, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return setup.Region{}, err
	}
	r := setup.Region{
		Name: c.Region, Addresses: c.FirewallIPs, Host: c.PublicHost, RTPLow: int(c.RTPPorts.Low), RTPHigh: int(c.RTPPorts.High),
	}
	if r.Addresses == nil {
		r.Addresses = c.ownAddresses()
	}
	if c.RTPPorts == (PortRange{}) {
		r.RTPLow, r.RTPHigh = 1024, 65535
	}
	r.Port, err = strconv.Atoi(port)
	return r, err
}

// ownAddresses returns the source addresses of signaling and media as peers see them. It omits an unspecified media address, and a private
// media address behind a public one, because no customer's firewall sees them.
func (c Config) ownAddresses() []string {
	inside := func(ip netip.Addr) bool { return ip.IsPrivate() || ip.IsLoopback() }
	addresses := []string{c.PublicIP.String()}
	if c.MediaIP != c.PublicIP && !c.MediaIP.IsUnspecified() && (!inside(c.MediaIP) || inside(c.PublicIP)) {
		addresses = append(addresses, c.MediaIP.String())
	}
	return addresses
}

func newRegistrations(db *bunstore.DB, line *sipua.UA, n node, rt callwright.Runtime) (*registration.Service, error) {
	return registration.New(registration.Config{
		Registrations: sipstore.Registrations{DB: db}, Leases: bunstore.Leases{DB: db}, Trunks: sipstore.Trunks{DB: db},
		Line: line, Node: string(n), Runtime: rt,
	})
}

func newDiscoveries(
	lc fx.Lifecycle, c Config, db *bunstore.DB, r *resolve.Resolver, p *probe.Prober, own *self.Server, rt callwright.Runtime,
) (*discovery.Service, error) {
	s, err := discovery.New(discovery.Config{
		Store: sipstore.Discoveries{DB: db}, Resolver: r, Prober: p, Self: own, AllowPrivate: c.allowsPrivate(), Runtime: rt,
	})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(s.Close))
	return s, nil
}

// testCallParts lists the dependencies of the services that place test calls and proofs.
type testCallParts struct {
	fx.In
	DB      *bunstore.DB
	Trunks  *sip.Service
	Line    *sipua.UA
	Work    callwright.Work
	Runtime callwright.Runtime

	SpeechEngine tts.Engine
}

func newTestCalls(lc fx.Lifecycle, p testCallParts) (*testcall.Service, error) {
	c := testcall.Config{
		Store: sipstore.TestCalls{DB: p.DB}, Trunks: p.Trunks, Line: p.Line.TestLine(), Work: p.Work, Runtime: p.Runtime,
	}
	if _, missing := p.SpeechEngine.(absent); !missing {
		c.Prompt = prompt{voice{p.SpeechEngine}}
	}
	s, err := testcall.New(c)
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(s.Close))
	return s, nil
}

// prompt synthesizes the sentence that is played when a person answers a test call.
type prompt struct{ voice }

// Prompt returns the samples of the sentence at the given rate, in hertz.
func (p prompt) Prompt(ctx context.Context, rate int) ([]int16, error) {
	return p.Speak(ctx, "This is a test call. Goodbye.", rate)
}

// voice synthesizes English texts.
type voice struct{ tts.Synthesizer }

// Speak returns the samples of a spoken text at the given rate, in hertz.
func (v voice) Speak(ctx context.Context, text string, rate int) ([]int16, error) {
	stream, err := v.Synthesize(ctx, tts.Request{Text: text, Language: "en", Rate: rate})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var samples []int16
	chunk := make([]int16, 4096)
	for {
		n, err := stream.Read(chunk)
		samples = append(samples, chunk[:n]...)
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
