package registration

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

const (
	nodeKind  = "sip.registration" // of the lease that a node keeps while it has registrations
	takeEvery = time.Second
	atOnce    = 100              // REGISTERs under way
	askFor    = 30 * time.Second // for one, its challenges included
	drainFor  = 10 * time.Second // for taking everything back
	storeFor  = 5 * time.Second  // for what is asked of all registrations at once, which others wait for
)

// Config configures a Service. The fields up to Node are required.
type Config struct {
	Registrations sip.Registrations
	Leases        callwright.Leases
	Trunks        sip.Store
	Line          Line
	Node          string // names this process; every process of a deployment, past or present, has another name

	Clock  callwright.Clock // nil: SystemClock
	Logger *slog.Logger     // nil: discards
}

// Service keeps this node's share of the registrations.
type Service struct {
	cfg       Config
	heartbeat *callwright.Heartbeat
	slots     chan struct{} // one for each piece of work under way
	more      chan struct{} // there is more to do than there were slots for
	wg        sync.WaitGroup

	mu      sync.Mutex
	all     map[string]*kept
	starved bool // the last look at what is due found no slot for all of it
	closed  bool
}

// kept is a registration that is this node's. The mutex of the service guards it.
type kept struct {
	machine Machine
	binding Binding  // as last asked for; zero: never
	bound   *attempt // that made the binding
	busy    bool     // somebody works on it, and nobody else may
	unsaved bool     // the machine is ahead of what is stored
}

// attempt is one REGISTER.
type attempt struct{ lost bool } // its connection is gone

// New checks the configuration.
func New(cfg Config) (*Service, error) {
	switch {
	case cfg.Registrations == nil:
		return nil, errors.New("registration: Config.Registrations is required")
	case cfg.Leases == nil:
		return nil, errors.New("registration: Config.Leases is required")
	case cfg.Trunks == nil:
		return nil, errors.New("registration: Config.Trunks is required")
	case cfg.Line == nil:
		return nil, errors.New("registration: Config.Line is required")
	case cfg.Node == "":
		return nil, errors.New("registration: Config.Node is required")
	}
	if cfg.Clock == nil {
		cfg.Clock = callwright.SystemClock{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	heartbeat, err := callwright.NewHeartbeat(callwright.HeartbeatConfig{
		Leases: cfg.Leases, Kind: nodeKind, Node: cfg.Node, Clock: cfg.Clock, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	return &Service{
		cfg: cfg, heartbeat: heartbeat,
		slots: make(chan struct{}, atOnce), more: make(chan struct{}, 1), all: map[string]*kept{},
	}, nil
}

// Run keeps registrations until ctx ends. Then it takes them all back, so that another node can have them at once. It is
// called once.
func (s *Service) Run(ctx context.Context) error {
	defer s.beat(context.WithoutCancel(ctx))()
	take, review := time.NewTicker(takeEvery), time.NewTicker(callwright.LeaseRenewal)
	defer take.Stop()
	defer review.Stop()
	for {
		s.take(ctx)
		s.step(ctx)
		select {
		case <-take.C:
		case <-s.more:
		case <-review.C:
			s.review(ctx)
			s.releaseDead(ctx)
		case <-ctx.Done():
			s.drain(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// beat keeps the node's lease until stop is called.
func (s *Service) beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	s.heartbeat.Beat(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { _ = s.heartbeat.Run(ctx) })
	return func() {
		cancel()
		beating.Wait()
	}
}

// take learns of what is due, and takes what nobody keeps. Without its lease the node takes nothing: others would release it.
func (s *Service) take(ctx context.Context) {
	if !s.heartbeat.Held() {
		return
	}
	now := s.cfg.Clock.Now()
	// Those that are under way are due too, so with twice as many there are others among them.
	taking, cancel := context.WithTimeout(ctx, storeFor)
	defer cancel()
	rows, err := s.cfg.Registrations.TakeRegistrations(taking, s.cfg.Node, now, 2*atOnce)
	if err != nil {
		s.failed(ctx, "registrations are not to be had", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		k := s.all[row.TrunkID]
		switch {
		case k == nil:
			k = &kept{}
			s.all[row.TrunkID] = k
		case k.busy || row.Version <= k.machine.Version && !row.Since.After(k.machine.Since):
			continue // no news: one that was struck and begun anew counts its versions from the start
		}
		k.machine = Resume(row, now, chance())
		k.unsaved = k.machine.Registration != row
	}
}

// step begins what is to be done, as far as there are slots.
func (s *Service) step(ctx context.Context) {
	now := s.cfg.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starved = false
	for _, k := range s.all {
		due := !now.Before(k.machine.NextAt)
		if k.busy || !due && !k.unsaved {
			continue
		}
		select {
		case s.slots <- struct{}{}:
		default:
			s.starved = true
			return
		}
		s.work(k, func() {
			if due {
				s.register(ctx, k)
			} else {
				s.save(ctx, k)
			}
		})
	}
}

// work does something for a registration that has a slot. The mutex is held.
func (s *Service) work(k *kept, do func()) {
	k.busy = true
	s.wg.Go(func() {
		do()
		s.mu.Lock()
		k.busy = false
		starved := s.starved
		s.mu.Unlock()
		<-s.slots
		if starved {
			select {
			case s.more <- struct{}{}:
			default:
			}
		}
	})
}

// register makes or refreshes a binding.
func (s *Service) register(ctx context.Context, k *kept) {
	row := s.apply(k, Event{Kind: Due}).Registration
	t, err := s.cfg.Trunks.Trunk(ctx, row.Org, row.TrunkID)
	if err != nil && callwright.CodeOf(err) != callwright.CodeNotFound {
		s.failed(ctx, "a trunk is not to be had", err)
		s.apply(k, Event{Kind: Failed, Reason: "the trunk could not be read"})
		return
	}
	b, registers, err := bindingOf(t)
	if !registers { // what is stored should have gone with the trunk
		if err := s.cfg.Registrations.DeleteRegistration(ctx, row.Org, row.TrunkID); err != nil {
			s.failed(ctx, "a registration was not removed", err)
		}
		s.forget(ctx, k)
		return
	}
	outcome := Event{Kind: Refused, Reason: callwright.MessageOf(err)}
	if err == nil {
		outcome = s.bind(ctx, k, b)
	}
	if ctx.Err() != nil {
		return // see drain
	}
	if m := s.apply(k, outcome); outcome.Kind != Granted {
		s.cfg.Logger.Info("not registered", "trunk", m.TrunkID, "reason", m.Reason, "again", m.NextAt)
	}
	s.save(ctx, k)
}

// bind asks the server.
func (s *Service) bind(ctx context.Context, k *kept, b Binding) Event {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	s.mu.Lock()
	before := k.binding
	k.binding = b
	s.mu.Unlock()
	if before.TrunkID != "" && !before.same(b) {
		s.cfg.Line.Unregister(ctx, b.TrunkID)
	}
	a := &attempt{}
	b.Lost = func() { s.lost(k, a) }
	outcome := ask(ctx, s.cfg.Line, b)
	if outcome.Kind == Granted {
		s.mu.Lock()
		k.bound = a
		s.mu.Unlock()
	}
	return outcome
}

// apply moves a registration's machine, and past the loss of a connection that has come meanwhile.
func (s *Service) apply(k *kept, e Event) Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(k, e)
	if e.Kind == Granted && k.bound.lost {
		s.move(k, connectionLost)
	}
	return k.machine
}

var connectionLost = Event{Kind: Lost, Reason: "the connection was lost"}

func chance() float64 { return rand.Float64() } //nolint:gosec // it spreads load and keeps no secret

// move is apply with the mutex held.
func (s *Service) move(k *kept, e Event) {
	next, err := k.machine.Next(e, s.cfg.Clock.Now(), chance())
	if err != nil {
		s.cfg.Logger.Error("registration", "trunk", k.machine.TrunkID, "error", err)
		return
	}
	k.machine = next
	k.unsaved = k.unsaved || e.Kind != Due
}

// lost is what the line says of a binding's connection.
func (s *Service) lost(k *kept, a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.lost = true
	if k.bound == a && !s.closed {
		s.move(k, connectionLost) // the next step saves it
	}
}

// save stores where a registration stands.
func (s *Service) save(ctx context.Context, k *kept) {
	s.mu.Lock()
	row := k.machine.Registration
	s.mu.Unlock()
	err := s.cfg.Registrations.PutRegistration(ctx, row)
	switch callwright.CodeOf(err) {
	case "":
		s.mu.Lock()
		defer s.mu.Unlock()
		k.machine.Version++
		k.unsaved = k.machine.State != row.State || k.machine.NextAt != row.NextAt
	case callwright.CodeNotFound:
		s.forget(ctx, k)
	case callwright.CodeConflict: // its trunk has changed: see take
	default:
		s.failed(ctx, "a registration was not stored", err)
	}
}

// review lets go of what is not this node's any more.
func (s *Service) review(ctx context.Context) {
	reviewing, cancel := context.WithTimeout(ctx, storeFor)
	defer cancel()
	ids, err := s.cfg.Registrations.RegistrationsOf(reviewing, s.cfg.Node)
	if err != nil {
		s.failed(ctx, "this node's registrations cannot be read", err)
		return
	}
	if !s.knows(ids) { // the store has given some to a take that did not hear of it: the next ones ask for all again
		s.release(reviewing)
		return
	}
	slices.Sort(ids)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.all {
		if _, mine := slices.BinarySearch(ids, id); mine || k.busy {
			continue
		}
		select {
		case s.slots <- struct{}{}:
			s.work(k, func() { s.forget(ctx, k) })
		default: // at the next time
			return
		}
	}
}

// releaseDead releases the registrations of dead nodes, so that any node can take them. The nodes are read before their
// leases are: a node has its lease before it takes a registration.
func (s *Service) releaseDead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeFor)
	defer cancel()
	nodes, err := s.cfg.Registrations.RegistrationNodes(ctx)
	if err != nil {
		s.failed(ctx, "the nodes with registrations cannot be read", err)
		return
	}
	peers, ok, err := s.heartbeat.Peers(ctx)
	if err != nil {
		s.failed(ctx, "the leases of nodes cannot be read", err)
	}
	if !ok {
		return
	}
	for _, node := range nodes {
		if slices.Contains(peers.Alive, node) {
			continue
		}
		if err := s.cfg.Registrations.ReleaseRegistrations(ctx, node); err != nil {
			s.failed(ctx, "the registrations of a dead node are not released", err)
			return
		}
		s.cfg.Logger.Warn("released the registrations of a dead node", "node", node)
	}
}

// knows reports whether this node has heard of all registrations that are its own.
func (s *Service) knows(ids []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(ids, func(id string) bool { return s.all[id] == nil })
}

// forget takes a binding back that is not to be any more.
func (s *Service) forget(ctx context.Context, k *kept) {
	m := s.apply(k, Event{Kind: Removed})
	s.cfg.Line.Unregister(ctx, m.TrunkID)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, m.TrunkID)
}

// drain takes all bindings back and lets other nodes have the registrations.
func (s *Service) drain(ctx context.Context) {
	draining, cancel := context.WithTimeout(ctx, drainFor)
	defer cancel()
	s.wg.Wait()
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.all))
	s.mu.Unlock()
	for _, k := range all {
		s.slots <- struct{}{}
		s.wg.Go(func() {
			defer func() { <-s.slots }()
			s.cfg.Line.Unregister(draining, k.machine.TrunkID)
			if k.machine.State == sip.Registered {
				s.apply(k, Event{Kind: Lost, Reason: "the node that had it has stopped"})
				s.save(draining, k)
			}
		})
	}
	s.wg.Wait()
	releasing, stop := context.WithTimeout(ctx, storeFor)
	defer stop()
	s.release(releasing)
}

// release gives this node's registrations up.
func (s *Service) release(ctx context.Context) {
	if err := s.cfg.Registrations.ReleaseRegistrations(ctx, s.cfg.Node); err != nil {
		s.cfg.Logger.Warn("the registrations are not released", "error", err)
	}
}

// failed logs what goes wrong, unless it is the end that does.
func (s *Service) failed(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		s.cfg.Logger.Warn(what, "error", err)
	}
}
