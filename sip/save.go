package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// atomically runs f in a transaction, and retries after a conflict. After a success it calls Config.Changed.
func (s *Service) atomically(ctx context.Context, f func(context.Context) error) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error { return s.cfg.Atomic.Do(ctx, f) })
	if err == nil && s.cfg.Changed != nil {
		s.cfg.Changed()
	}
	return err
}

// held returns the trunks of a number, and locks the number until the end of the transaction, which serializes concurrent changes.
func (s *Service) held(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (Record, error) {
	if err := s.cfg.Store.Hold(ctx, number); err != nil {
		return Record{}, err
	}
	return s.record(ctx, org, number)
}

// store updates the trunk old to t, or inserts t if old is nil. It also updates the trunk's watch and registration. It must be called in a
// transaction.
func (s *Service) store(ctx context.Context, old *Trunk, t Trunk) (Trunk, error) {
	t.UpdatedAt = s.cfg.Clock.Now()
	var err error
	if old == nil {
		t.ID, t.CreatedAt, t.Version = s.cfg.IDs.New(), t.UpdatedAt, 1
		err = s.cfg.Store.Insert(ctx, t)
	} else {
		err = s.cfg.Store.Update(ctx, t)
		t.Version++
	}
	if err != nil {
		return Trunk{}, err
	}
	if err := s.cfg.Monitor.Watch(ctx, t); err != nil {
		return Trunk{}, err
	}
	return t, s.register(ctx, old, t)
}

// register starts the registration of a trunk that begins to register, restarts the registration if the binding has changed, and deletes it
// if the trunk no longer registers.
func (s *Service) register(ctx context.Context, old *Trunk, t Trunk) error {
	had := old != nil && old.registers()
	switch {
	case had && !t.registers():
		return s.cfg.Registrations.DeleteRegistration(ctx, t.Org, t.ID)
	case !t.registers() || had && old.binding() == t.binding():
		return nil
	}
	return s.cfg.Registrations.StoreRegistration(ctx, Registration{
		TrunkID: t.ID, Org: t.Org, Number: t.Number, State: Registering, Since: t.UpdatedAt, NextAt: t.UpdatedAt,
	})
}

// deleteTrunk deletes a trunk with its status and registration, and releases an inbound number. It must be called in a transaction.
func (s *Service) deleteTrunk(ctx context.Context, t Trunk) error {
	if err := s.cfg.Store.Delete(ctx, t); err != nil {
		return err
	}
	if err := s.cfg.Monitor.Unwatch(ctx, t); err != nil {
		return err
	}
	if err := s.cfg.Registrations.DeleteRegistration(ctx, t.Org, t.ID); err != nil || t.Direction != Inbound {
		return err
	}
	return s.cfg.Numbers.ReleaseInbound(ctx, t.Org, t.Number)
}

// registers reports whether we register with the trunk's server, so that it calls us over the registration.
func (t Trunk) registers() bool { return t.Direction == Inbound && t.Options.AuthMode == AuthRegister }

// binding contains the settings whose change requires a new registration.
type binding struct {
	endpoint    string
	port        int
	credentials Credentials
	verify      TLSVerification
}

func (t Trunk) binding() binding {
	return binding{t.Endpoint, t.Options.Port, t.Options.Register, t.Options.Verify}
}

// withRegistrar returns a copy of a trunk. If the trunk registers without an Endpoint, the copy has the Endpoint of the number's outbound
// trunk; withRegistrar returns CodeBadRequest if the number has none.
func withRegistrar(t Trunk, r Record) (Trunk, error) {
	if !t.registers() || t.Endpoint != "" {
		return t, nil
	}
	if r.Outbound == nil {
		return Trunk{}, callwright.Invalid("sip_endpoint", "is required, because the number has no outbound endpoint to register with")
	}
	server, err := r.Outbound.endpoint()
	t.Endpoint = over(server).String()
	return t, err
}
