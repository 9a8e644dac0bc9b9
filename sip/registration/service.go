package registration

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/sip"
)

const (
	concurrent = 100              // maximum number of concurrent REGISTERs
	askFor     = 30 * time.Second // timeout of one REGISTER, including challenges
	drainFor   = 10 * time.Second // timeout for removing all bindings
	storeFor   = 5 * time.Second  // timeout of store operations on several registrations
)

// Trunks reads trunks; every sip.Store implements it.
type Trunks interface {
	// Trunk returns a trunk by its id, or CodeNotFound if the organization has no such trunk.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (sip.Trunk, error)
}

// Config configures a Service.
type Config struct {
	Registrations sip.Registrations `required:"always"`
	Leases        node.Leases       `required:"always"`
	Trunks        Trunks            `required:"always"`
	Line          Line              `required:"always"`
	Node          string            `required:"always"` // id of this process, unique among all processes of the deployment, past and present

	callwright.Runtime
}

// Service maintains the registrations that belong to this node.
type Service struct {
	cfg     Config
	working *node.Holder[struct{}] // trunk ids of the registrations with work in progress

	mu      sync.Mutex
	all     map[string]*heldRegistration
	outages map[string]*callwright.Outage // by operation
	closed  bool
}

// heldRegistration is a registration of this node. Service.mu guards it.
type heldRegistration struct {
	machine        Machine
	binding        Binding  // parameters of the last REGISTER; zero if none was sent
	bindingAttempt *attempt // attempt that created the binding
	unsaved        bool     // the machine has changed since it was last stored
}

// attempt is a REGISTER, whose connection may be lost before or after the response.
type attempt struct{ handleLostConnection bool } // set when its connection is lost

// New returns a service. It returns an error if a required field of cfg is missing.
func New(cfg Config) (*Service, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, all: map[string]*heldRegistration{}, outages: map[string]*callwright.Outage{}}
	var err error
	s.working, err = node.NewHolder[struct{}](node.HolderConfig{
		Leases: cfg.Leases, Kind: "sip.registration", Node: cfg.Node, Most: concurrent,
		Claim: s.advance, Review: s.review, Drained: s.drain,
		Runtime: cfg.Runtime,
	})
	return s, err
}

// Run maintains registrations until ctx ends. It then removes all bindings, releases the registrations to other nodes, and returns nil. It
// must be called only once.
func (s *Service) Run(ctx context.Context) error { return s.working.Run(ctx) }

// advance claims registrations and starts the due work. It always returns nil, because the method note handles failures.
func (s *Service) advance(ctx context.Context) error {
	s.claim(ctx)
	s.step(ctx)
	return nil
}

// claim reads the due registrations of this node, and claims registrations that belong to no node. It does nothing while the node does not
// hold its lease, because other nodes would then release what it claims.
func (s *Service) claim(ctx context.Context) {
	if !s.working.Leased() {
		return
	}
	now := s.cfg.Clock.Now()
	// Registrations with work in progress are also due. A limit of twice their maximum number leaves room for others.
	taking, cancel := context.WithTimeout(ctx, storeFor)
	defer cancel()
	rows, err := s.cfg.Registrations.ClaimRegistrations(taking, s.cfg.Node, now, 2*concurrent)
	if s.note(ctx, "cannot claim registrations", err); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		k := s.all[row.TrunkID]
		switch {
		case k == nil:
			k = &heldRegistration{}
			s.all[row.TrunkID] = k
		case s.working.Holds(row.TrunkID) || row.Version <= k.machine.Version && !row.Since.After(k.machine.Since):
			continue // unchanged; if it had been deleted and added again, Since would be later
		}
		k.machine = Resume(row, now, chance())
		k.unsaved = k.machine.Registration != row
	}
}

// step starts the due work, as far as slots are free.
func (s *Service) step(ctx context.Context) {
	now := s.cfg.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.all {
		switch due := !now.Before(k.machine.NextAt); {
		case due:
			s.work(ctx, id, func(ctx context.Context) { s.register(ctx, k) })
		case k.unsaved:
			s.work(ctx, id, func(ctx context.Context) { s.store(ctx, k) })
		}
	}
}

// work starts the function do for a registration, unless all slots are taken or other work on the registration is in progress.
func (s *Service) work(ctx context.Context, id string, do func(ctx context.Context)) {
	if slot, ok := s.working.Hold(ctx, id, struct{}{}); ok {
		slot.Go(do)
	}
}

// register creates or refreshes the binding of a registration, and stores the result. It deletes the registration if its trunk does not
// register.
func (s *Service) register(ctx context.Context, k *heldRegistration) {
	row := s.apply(k, Event{Kind: Due}).Registration
	t, err := s.cfg.Trunks.Trunk(ctx, row.Org, row.TrunkID)
	failure := err
	if callwright.CodeOf(err) == callwright.CodeNotFound {
		failure = nil
	}
	if s.note(ctx, "cannot read a trunk", failure); failure != nil {
		s.apply(k, Event{Kind: Failed, Reason: "the trunk could not be read"})
		return
	}
	b, registers, err := bindingOf(t)
	if !registers { // normally deleted together with the trunk
		s.note(ctx, "cannot delete a registration", s.cfg.Registrations.DeleteRegistration(ctx, row.Org, row.TrunkID))
		s.unlist(ctx, k)
		return
	}
	outcome := Event{Kind: Refused, Reason: callwright.MessageOf(err)}
	if err == nil {
		outcome = s.bind(ctx, k, b)
	}
	if ctx.Err() != nil {
		return // drain handles the registration
	}
	if m := s.apply(k, outcome); outcome.Kind != Granted {
		s.cfg.Logger.Info("not registered", "trunk", m.TrunkID, "reason", m.Reason, "again", m.NextAt)
	}
	s.store(ctx, k)
}

// bind sends REGISTER, and returns the result as an event. If the parameters have changed, it first removes the old binding.
func (s *Service) bind(ctx context.Context, k *heldRegistration, b Binding) Event {
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
	b.Lost = func() { s.handleLostConnection(k, a) }
	outcome := ask(ctx, s.cfg.Line, b)
	if outcome.Kind == Granted {
		s.mu.Lock()
		k.bindingAttempt = a
		s.mu.Unlock()
	}
	return outcome
}

// apply applies an event to a registration's machine. If the connection of the new binding was lost meanwhile, apply then applies that
// loss.
func (s *Service) apply(k *heldRegistration, e Event) Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(k, e)
	if e.Kind == Granted && k.bindingAttempt.handleLostConnection {
		s.move(k, connectionLost)
	}
	return k.machine
}

var connectionLost = Event{Kind: Lost, Reason: "the connection was lost"}

func chance() float64 { return rand.Float64() } //nolint:gosec // it spreads load and keeps no secret

// move applies one event. The caller must hold the mutex.
func (s *Service) move(k *heldRegistration, e Event) {
	next, err := k.machine.Next(e, s.cfg.Clock.Now(), chance())
	if err != nil {
		s.cfg.Logger.Error("registration", "trunk", k.machine.TrunkID, "error", err)
		return
	}
	k.machine = next
	k.unsaved = k.unsaved || e.Kind != Due
}

// handleLostConnection is called when the connection of an attempt is lost. If the attempt has created the current binding and the service
// is not draining, handleLostConnection applies the event Lost.
func (s *Service) handleLostConnection(k *heldRegistration, a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.handleLostConnection = true
	if k.bindingAttempt == a && !s.closed {
		s.move(k, connectionLost) // the next step stores it
	}
}

// store stores a registration. It drops the registration if it was deleted.
func (s *Service) store(ctx context.Context, k *heldRegistration) {
	s.mu.Lock()
	row := k.machine.Registration
	s.mu.Unlock()
	err := s.cfg.Registrations.StoreRegistration(ctx, row)
	switch callwright.CodeOf(err) {
	case "":
		s.note(ctx, "cannot store a registration", nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		k.machine.Version++
		k.unsaved = k.machine.State != row.State || k.machine.NextAt != row.NextAt
	case callwright.CodeNotFound:
		s.unlist(ctx, k)
	case callwright.CodeConflict: // the trunk has changed: the next claim reads the registration
	default:
		s.note(ctx, "cannot store a registration", err)
	}
}

// review drops registrations that no longer belong to this node, and releases registrations of dead nodes. It always returns nil, because
// the method note handles failures.
func (s *Service) review(ctx context.Context) error {
	s.releaseForeign(ctx)
	s.releaseDead(ctx)
	return nil
}

// releaseForeign drops registrations that no longer belong to this node. If the store assigns registrations to this node that the node does
// not hold in memory, releaseForeign instead releases all registrations of the node, so that they are claimed again.
func (s *Service) releaseForeign(ctx context.Context) {
	reviewing, cancel := context.WithTimeout(ctx, storeFor)
	defer cancel()
	ids, err := s.cfg.Registrations.RegistrationsOf(reviewing, s.cfg.Node)
	if s.note(ctx, "this node's registrations cannot be read", err); err != nil {
		return
	}
	if !s.holdsAll(ids) { // left by a claim whose answer was lost
		s.release(reviewing)
		return
	}
	slices.Sort(ids)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.all {
		if _, mine := slices.BinarySearch(ids, id); !mine {
			s.work(ctx, id, func(ctx context.Context) { s.unlist(ctx, k) })
		}
	}
}

// releaseDead releases the registrations of dead nodes, so that any node can claim them. It reads the nodes before their leases, because a
// node holds its lease before it claims a registration.
func (s *Service) releaseDead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeFor)
	defer cancel()
	nodes, err := s.cfg.Registrations.RegistrationNodes(ctx)
	if s.note(ctx, "the nodes with registrations cannot be read", err); err != nil {
		return
	}
	peers, ok, err := s.working.Peers(ctx)
	if s.note(ctx, "the leases of nodes cannot be read", err); !ok {
		return
	}
	for _, node := range nodes {
		if slices.Contains(peers.Alive, node) {
			continue
		}
		err := s.cfg.Registrations.ReleaseRegistrations(ctx, node)
		if s.note(ctx, "the registrations of a dead node are not released", err); err != nil {
			return
		}
		s.cfg.Logger.Warn("released the registrations of a dead node", "dead_node", node)
	}
}

// holdsAll reports whether this node holds all of the given registrations in memory.
func (s *Service) holdsAll(ids []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(ids, func(id string) bool { return s.all[id] == nil })
}

// unlist removes the binding of a registration, and drops the registration from this node.
func (s *Service) unlist(ctx context.Context, k *heldRegistration) {
	m := s.apply(k, Event{Kind: Removed})
	s.cfg.Line.Unregister(ctx, m.TrunkID)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, m.TrunkID)
}

// drain removes all bindings and releases the registrations to other nodes.
func (s *Service) drain(ctx context.Context) {
	draining, cancel := context.WithTimeout(ctx, drainFor)
	defer cancel()
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.all))
	s.mu.Unlock()
	slots := make(chan struct{}, concurrent)
	var removing sync.WaitGroup
	for _, k := range all {
		slots <- struct{}{}
		removing.Go(func() {
			defer func() { <-slots }()
			s.cfg.Line.Unregister(draining, k.machine.TrunkID)
			if k.machine.State == sip.Registered {
				s.apply(k, Event{Kind: Lost, Reason: "the node that held the registration has stopped"})
				s.store(draining, k)
			}
		})
	}
	removing.Wait()
	releasing, stop := context.WithTimeout(ctx, storeFor)
	defer stop()
	s.release(releasing)
}

// release releases all registrations of this node to other nodes.
func (s *Service) release(ctx context.Context) {
	if err := s.cfg.Registrations.ReleaseRegistrations(ctx, s.cfg.Node); err != nil {
		s.cfg.Logger.Warn("the registrations are not released", "error", err)
	}
}

// note logs the first failure of a repeated operation and its recovery, using a callwright.Outage. It ignores failures after ctx has ended.
func (s *Service) note(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	o := s.outages[what]
	if o == nil {
		o = new(callwright.Outage)
		s.outages[what] = o
	}
	s.mu.Unlock()
	o.Note(ctx, s.cfg.Logger, what, err)
}
