package rtpmedia

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Config configures a Media.
type Config struct {
	// IP is the address that the sockets bind to.
	IP netip.Addr `required:"always"`
	// Codecs makes the codecs.
	Codecs sip.Codecs `required:"always"`

	// Advertise is the address for the SDP, such as the public address of a NAT. It is IP when it is not set, and
	// required when IP is unspecified (0.0.0.0).
	Advertise netip.Addr
	// Ports is the range of RTP and RTCP. The zero range takes ephemeral ports from the system, which suits tests.
	Ports PortRange
	// Jitter bounds the delay of the jitter buffer, 20 to 120 ms when it is zero. Equal bounds fix the delay.
	Jitter Bounds
	// Timeouts bounds a peer's silence on the wire.
	Timeouts Timeouts

	// Runtime provides the wall clock time of RTCP reports, and logs moved addresses and dead peers. The pacer always follows the
	// machine's monotonic clock.
	callwright.Runtime
}

// Bounds are the limits of an adaptive delay.
type Bounds struct{ Least, Most time.Duration }

// Timeouts are the times after which sip.ErrMediaTimeout is reported: before the first authentic packet (30 s when 0),
// after the last one (15 s when 0), and of hold since then (30 min when 0).
type Timeouts struct{ First, Between, Held time.Duration }

// Media opens sessions. It implements sip.Media and is safe for concurrent use.
type Media struct {
	cfg   Config
	ports *pool

	sessions atomic.Int64
	late     atomic.Uint64
	dropped  atomic.Uint64
}

// New checks the configuration. It opens no socket: Check tries whether one can be opened.
func New(cfg Config) (*Media, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return nil, err
	}
	cfg.IP = cfg.IP.Unmap()
	if !cfg.Advertise.IsValid() {
		cfg.Advertise = cfg.IP
	}
	if cfg.Advertise.IsUnspecified() || cfg.Advertise.Is4() != cfg.IP.Is4() {
		return nil, callwright.Invalid("advertise", "must be a specified address of the family of ip, not %s with %s", cfg.Advertise, cfg.IP)
	}
	if cfg.Jitter == (Bounds{}) {
		cfg.Jitter = Bounds{Least: 20 * time.Millisecond, Most: 120 * time.Millisecond}
	}
	if cfg.Jitter.Least < 0 || cfg.Jitter.Most < cfg.Jitter.Least || cfg.Jitter.Most > time.Second {
		return nil, callwright.Invalid("jitter", "must be a range of delays of at most a second, not %s to %s", cfg.Jitter.Least, cfg.Jitter.Most)
	}
	if cfg.Timeouts.First <= 0 {
		cfg.Timeouts.First = 30 * time.Second
	}
	if cfg.Timeouts.Between <= 0 {
		cfg.Timeouts.Between = 15 * time.Second
	}
	if cfg.Timeouts.Held <= 0 {
		cfg.Timeouts.Held = 30 * time.Minute
	}
	ports, err := newPool(cfg.Ports, listenUDP(cfg.IP))
	if err != nil {
		return nil, err
	}
	return &Media{cfg: cfg, ports: ports}, nil
}

// Open implements sip.Media.
func (m *Media) Open(ctx context.Context) (sip.MediaSession, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sockets, err := m.ports.claim()
	if err != nil {
		return nil, m.noPort(err)
	}
	return m.start(ctx, sockets), nil
}

// Check reports with CodeUnavailable that this machine does not have the address of Config.IP, or that no socket can be opened
// there: every Open would fail.
func (m *Media) Check() error {
	socket, err := m.ports.listen(0)
	if err != nil {
		return m.noPort(err)
	}
	return socket.Close()
}

// noPort returns the error if no sockets can be opened.
func (m *Media) noPort(cause error) error {
	if errors.Is(cause, syscall.EADDRNOTAVAIL) {
		return callwright.Errorf(callwright.CodeUnavailable, "this machine does not have the media address %s", m.cfg.IP).Because(cause)
	}
	return callwright.Errorf(callwright.CodeUnavailable, "no media port of %s is free", m.cfg.IP).Because(cause)
}

// Counters are sums over all sessions.
type Counters struct {
	Sessions      int    // open now
	LateFrames    uint64 // sent 20 ms late or later, which says that the machine is too busy
	DroppedFrames uint64 // not read in time
}

// Counters returns the sums since New.
func (m *Media) Counters() Counters {
	return Counters{Sessions: int(m.sessions.Load()), LateFrames: m.late.Load(), DroppedFrames: m.dropped.Load()}
}
