package discovery

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

// Config configures a Service.
type Config struct {
	Store    Store             `required:"always"`
	Resolver *resolve.Resolver `required:"always"`
	Prober   Prober            `required:"always"`

	Self         *self.Server // this server: shown, but neither probed nor recommended; may be nil
	AllowPrivate bool         // also probe private and loopback addresses

	callwright.Runtime
}

// Time limits of a discovery.
const (
	kept      = 10 * time.Minute        // time for which a result can be read, and is reused for equal requests
	deadAfter = 10 * time.Second        // a discovery that runs longer counts as failed: its node has died
	longest   = 7500 * time.Millisecond // limit of all look-ups and probes together; with lastSave it stays below deadAfter
	lookUp    = 2 * time.Second         // limit of all look-ups
	timeout   = 2 * time.Second         // limit of each probe
	saveEvery = 250 * time.Millisecond  // minimum time between writes of the progress
	lastSave  = 2 * time.Second         // limit of the write of the result, even if the service is closing
)

// Service runs discoveries. Each discovery runs on the node that received the request.
type Service struct {
	cfg     Config
	context context.Context //nolint:containedctx // canceled by Close
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// New returns a service. It returns an error if a required field of c is missing.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	s := &Service{cfg: c}
	s.context, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Request contains the host to discover, and options.
type Request struct {
	Host      string        // host name or IP address
	Port      uint16        // port to probe before the usual ones; 0 if none
	Transport uri.Transport // transport to probe first; empty if none
	Fresh     bool          // probe even if a stored result of an equal request exists
}

// Start starts a discovery. Unless r.Fresh is set, it returns the result of an equal request of the last 10 minutes instead, if there is
// one. It returns CodeBadRequest if the host or the transport is invalid, or if the host is private without Config.AllowPrivate. It returns
// CodeDiscoveryInProgress if another discovery of the organization is running, and CodeUnavailable if the service is closed.
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
	if err := s.cfg.Store.DeleteOld(ctx, now.Add(-kept-deadAfter)); err != nil {
		return Discovery{}, err
	}
	if !r.Fresh {
		known, err := s.cfg.Store.Recent(ctx, d, now.Add(-kept))
		if !errors.Is(err, callwright.ErrNotFound) {
			return known, err
		}
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

// stopping is the error text for discoveries that a closing service refuses or ends.
const stopping = "the server is stopping"

// check returns the normalized host of a request, or CodeBadRequest if the request is invalid.
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
		return "", callwright.Invalid("host", "must be a host name or an IP address, without a user, port or transport")
	case d.IsPrivateIP && !s.cfg.AllowPrivate:
		return "", callwright.Invalid("host", "must not be a private address")
	}
	return d.Host, nil
}

// enter registers a running discovery, for which Close waits. It returns false if the service is closed.
func (s *Service) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// Get returns a discovery. If its node has died, the discovery is returned as failed. Get returns CodeNotFound if the organization has no
// such discovery, or if the discovery ended more than 10 minutes ago.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Discovery, error) {
	d, err := s.cfg.Store.Get(ctx, org, id)
	if err != nil {
		return Discovery{}, err
	}
	now := s.cfg.Clock.Now()
	if end := d.StartedAt.Add(deadAfter); d.Status == Running && now.After(end) {
		d.Status, d.Reason, d.CompletedAt = Failed, "the server that ran the discovery has stopped: start another discovery", &end
	}
	if d.CompletedAt != nil && now.Sub(*d.CompletedAt) > kept {
		return Discovery{}, callwright.NotFound("discovery")
	}
	return d, nil
}

// Close ends the running discoveries of this node as failed, and waits for them until ctx ends. Afterwards no discovery can be started.
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
