package discovery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// Config configures a Service. Store, Resolver and Prober are required.
type Config struct {
	Store    Store
	Resolver *resolve.Resolver
	Prober   Prober

	AllowPrivate bool             // probe private and loopback addresses, too
	Clock        callwright.Clock // nil: SystemClock
	IDs          callwright.IDs   // nil: UUIDs
	Logger       *slog.Logger     // nil: discards
}

// The times of a discovery.
const (
	kept      = 10 * time.Minute        // how long a result can be read, and stands for the next who ask the same
	deadAfter = 10 * time.Second        // one that runs for longer has lost its node
	longest   = 7500 * time.Millisecond // for the look-up and all questions; with the last write it stays under 8 s
	lookUp    = 2 * time.Second         // for all names together
	patience  = 2 * time.Second         // for each question
	saveEvery = 250 * time.Millisecond  // how often progress is written, at most
	lastSave  = 2 * time.Second         // for the result, also when the service is closing
)

// Service runs discoveries, each on the node that was asked for it.
type Service struct {
	cfg     Config
	context context.Context //nolint:containedctx // ends the discoveries when the service is closed
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// New checks the configuration.
func New(c Config) (*Service, error) {
	switch {
	case c.Store == nil:
		return nil, errors.New("discovery: Config.Store is required")
	case c.Resolver == nil:
		return nil, errors.New("discovery: Config.Resolver is required")
	case c.Prober == nil:
		return nil, errors.New("discovery: Config.Prober is required")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{cfg: c}
	s.context, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Request asks for a discovery.
type Request struct {
	Host      string        // a host name or an IP address
	Port      uint16        // to ask first, besides the usual ones; 0: none
	Transport uri.Transport // to ask first; empty: none
}

// Start begins a discovery, or gives again what one of the same request has found in the last 10 minutes. It is
// CodeDiscoveryInProgress while one of the organization runs, CodeUnavailable once the service is closed, and
// CodeBadRequest for what is no host, or a private address where those are not looked at.
func (s *Service) Start(ctx context.Context, org callwright.OrgID, r Request) (Discovery, error) {
	host, err := s.check(r)
	if err != nil {
		return Discovery{}, err
	}
	now := s.cfg.Clock.Now()
	d := Discovery{
		ID: "disc_" + strings.ReplaceAll(s.cfg.IDs.New(), "-", ""), Org: org, Host: host, Port: r.Port, Transport: r.Transport,
		Status: Running, StartedAt: now, Version: 1,
	}
	if err := s.cfg.Store.Forget(ctx, now.Add(-kept-deadAfter)); err != nil {
		return Discovery{}, err
	}
	known, err := s.cfg.Store.Recent(ctx, d, now.Add(-kept))
	if !errors.Is(err, callwright.ErrNotFound) {
		return known, err
	}
	if !s.enter() {
		return Discovery{}, callwright.Errorf(callwright.CodeUnavailable, "%s", stopping)
	}
	if err := s.cfg.Store.Begin(ctx, d, now.Add(-deadAfter)); err != nil {
		s.running.Done()
		return Discovery{}, err
	}
	go func() {
		defer s.running.Done()
		s.run(s.context, d)
	}()
	return d, nil
}

// stopping is why nothing begins any more, and why what runs ends.
const stopping = "the server is stopping"

// check gives the host of a request in its plain form.
func (s *Service) check(r Request) (string, error) {
	d, err := uri.ParseDestination(r.Host)
	if err != nil {
		return "", callwright.Invalid("host", "%s", callwright.MessageOf(err))
	}
	switch r.Transport {
	case "", uri.UDP, uri.TCP, uri.TLS:
	default:
		return "", callwright.Invalid("transport", "must be udp, tcp or tls")
	}
	switch {
	case d.Port != 0 || d.User != "" || d.Transport != "":
		return "", callwright.Invalid("host", "must be a host name or an IP address alone: port and transport have their own fields")
	case d.IsPrivateIP && !s.cfg.AllowPrivate:
		return "", callwright.Invalid("host", "must not be a private address")
	}
	return d.Host, nil
}

// enter counts a discovery, unless the service is closed.
func (s *Service) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// Get is a discovery as it stands. One whose node has died counts as failed. It is CodeNotFound when the organization
// has none of that id, and 10 minutes after its end.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Discovery, error) {
	d, err := s.cfg.Store.Get(ctx, org, id)
	if err != nil {
		return Discovery{}, err
	}
	now := s.cfg.Clock.Now()
	if end := d.StartedAt.Add(deadAfter); d.Status == Running && now.After(end) {
		d.Status, d.Reason, d.CompletedAt = Failed, "the node that ran it has gone", &end
	}
	if d.CompletedAt != nil && now.Sub(*d.CompletedAt) > kept {
		return Discovery{}, callwright.NotFound("discovery")
	}
	return d, nil
}

// Close ends the discoveries that run here, as failed, and waits for that until ctx ends. None begins from then on.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
