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

// Config configures a Media. Only IP and Codecs are required.
type Config struct {
	// IP is the address that the sockets bind to.
	IP netip.Addr `required:"always"`
	// Codecs creates a codec for each direction of a session.
	Codecs sip.Codecs `required:"always"`

	// Advertise is the address for the SDP, such as the public address of a NAT. If it is not set, IP is used. It is required if IP is
	// unspecified (0.0.0.0 or ::).
	Advertise netip.Addr
	// Ports is the range of the RTP and RTCP ports. If it is zero, the system chooses free ports, which suits tests.
	Ports PortRange
	// Jitter limits the delay of the jitter buffer. The zero value means 20 to 120 ms; the maximum is 1 s. If both limits are equal, the
	// delay is fixed.
	Jitter Bounds
	// Timeouts limits how long a peer may send neither RTP nor RTCP.
	Timeouts Timeouts

	// Runtime provides the wall clock time for RTCP reports, and the logger. The pacer always uses the machine's monotonic clock.
	callwright.Runtime
}

// Bounds holds the minimum and the maximum of an adaptive delay.
type Bounds struct{ Least, Most time.Duration }

// Timeouts holds the durations of silence after which Read returns sip.ErrMediaTimeout. First applies before the first authentic packet; 0
// means 30 s. Between applies after an authentic packet; 0 means 15 s. Neither includes time on hold. Held limits the time on hold since
// the last authentic packet; 0 means 30 min.
type Timeouts struct{ First, Between, Held time.Duration }

// Media opens sessions. It implements sip.Media and is safe for concurrent use.
type Media struct {
	cfg   Config
	ports *pool

	sessions atomic.Int64
	late     atomic.Uint64
	dropped  atomic.Uint64
}

// New validates the configuration and returns a Media. It opens no socket. Check reports whether sockets can be opened.
func New(cfg Config) (*Media, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return nil, err
	}
	cfg.IP = cfg.IP.Unmap()
	if !cfg.Advertise.IsValid() {
		cfg.Advertise = cfg.IP
	}
	switch {
	case cfg.Advertise.IsUnspecified():
		return nil, callwright.Invalid("advertise", "must be the IP address at which peers reach this machine, not %s", cfg.Advertise)
	case cfg.IP.Is4() && !cfg.Advertise.Is4():
		return nil, callwright.Invalid("advertise", "must be an IPv4 address like ip (%s), not %s", cfg.IP, cfg.Advertise)
	case cfg.Advertise.Is4() && !cfg.IP.Is4():
		return nil, callwright.Invalid("advertise", "must be an IPv6 address like ip (%s), not %s", cfg.IP, cfg.Advertise)
	}
	if cfg.Jitter == (Bounds{}) {
		cfg.Jitter = Bounds{Least: 20 * time.Millisecond, Most: 120 * time.Millisecond}
	}
	if cfg.Jitter.Least < 0 || cfg.Jitter.Most < cfg.Jitter.Least || cfg.Jitter.Most > time.Second {
		return nil, callwright.Invalid("jitter", "must satisfy 0 <= Least <= Most <= 1s, not Least %s and Most %s", cfg.Jitter.Least, cfg.Jitter.Most)
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

// Open implements sip.Media. The session's log lines contain the attributes that callwright.WithLog has added to ctx.
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

// Check returns CodeUnavailable if this machine does not have the address Config.IP, or if it cannot open a socket there for another
// reason. Open would then fail, too.
func (m *Media) Check() error {
	socket, err := m.ports.listen(0)
	if err != nil {
		return m.noPort(err)
	}
	return socket.Close()
}

// noPort returns the CodeUnavailable error for a failure to open sockets.
func (m *Media) noPort(cause error) error {
	if errors.Is(cause, syscall.EADDRNOTAVAIL) {
		return callwright.Errorf(callwright.CodeUnavailable, "this machine does not have the media address %s: configure an address of this machine", m.cfg.IP).Because(cause)
	}
	if errors.Is(cause, errAllTaken) || errors.Is(cause, syscall.EADDRINUSE) {
		return callwright.Errorf(callwright.CodeUnavailable, "all media ports of %s are in use: try again later, or configure more ports", m.cfg.IP).
			Because(cause)
	}
	return callwright.Errorf(callwright.CodeUnavailable, "no media port of %s can be opened", m.cfg.IP).Because(cause)
}

// Counters holds sums over all sessions of a Media.
type Counters struct {
	Sessions      int    // currently open
	LateFrames    uint64 // at least 20 ms late, because the machine is too busy
	DroppedFrames uint64 // not read within 200 ms
}

// Counters returns the current number of sessions, and the numbers of frames since New.
func (m *Media) Counters() Counters {
	return Counters{Sessions: int(m.sessions.Load()), LateFrames: m.late.Load(), DroppedFrames: m.dropped.Load()}
}
