package monitor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// Watch starts to watch a trunk, or updates a watched one. It does not start to watch an inbound trunk without alerts. It keeps the trunk's
// history and alerts, and the health of servers that the organization already watches. It implements sip.Monitor.
func (s *Service) Watch(ctx context.Context, t sip.Trunk) error {
	return callwright.Retry(ctx, func(ctx context.Context) error {
		old, err := s.cfg.Statuses.Status(ctx, t.Org, t.ID)
		known := err == nil
		if err != nil && !errors.Is(err, callwright.ErrNotFound) {
			return err
		}
		status, err := s.changed(t, old)
		if err != nil || !known && !status.Alerting && t.Direction == sip.Inbound {
			return err
		}
		for _, server := range status.Servers {
			if server.Health.CheckedAt.IsZero() {
				s.breaker.Succeeded(circuit(t.ID, server.Server.String()))
			}
		}
		return s.cfg.Statuses.StoreStatus(ctx, status)
	})
}

// changed returns the status of a new or changed trunk, given the old status or the zero Status. Servers that are new to the trunk are
// unchecked and due immediately. The first server is active or, if it is unreachable, the server in the best state.
func (s *Service) changed(t sip.Trunk, old sip.Status) (sip.Status, error) {
	servers, err := t.Servers()
	if err != nil {
		return sip.Status{}, err
	}
	now := s.cfg.Clock.Now()
	status := sip.Status{
		TrunkID: t.ID, Org: t.Org, Number: t.Number, Verify: cmp.Or(t.Options.Verify, sip.VerifyFull),
		Alerting: t.Alerts != nil && t.Alerts.Enabled,
		History:  old.History.Lasted(old.Recorded, now), Alerts: old.Alerts, ProbeAt: now, Version: old.Version,
	}
	if t.Failover != nil {
		status.Failback = t.Failover.Failback
	}
	for _, server := range servers {
		watched := sip.ServerStatus{Server: server, Health: health.Server{State: health.Unchecked}, ProbeAt: now}
		if i := slices.IndexFunc(old.Servers, func(s sip.ServerStatus) bool { return s.Server == server }); i >= 0 {
			watched = old.Servers[i]
			watched.ProbeAt = now // StoreStatus applies it only to servers that are new to the organization
		}
		status.Servers = append(status.Servers, watched)
	}
	status.Active, status.Group = failover.Active(failover.Auto, 0, states(status)), groupOf(t, status)
	return status, nil
}

// Unwatch stops watching a trunk, and deletes its status and its deliveries. It implements sip.Monitor.
func (s *Service) Unwatch(ctx context.Context, t sip.Trunk) error {
	if s.cfg.Deliveries != nil {
		if err := s.cfg.Deliveries.DeleteDeliveries(ctx, t); err != nil {
			return err
		}
	}
	return s.cfg.Statuses.DeleteStatus(ctx, t.Org, t.ID)
}

// Servers returns a trunk's servers in the order in which a call tries them. It omits unreachable servers, and servers that have just
// failed a call on this node, unless none would be left. It implements sip.Monitor.
func (s *Service) Servers(ctx context.Context, t sip.Trunk) ([]failover.Server, error) {
	status, err := s.cfg.Statuses.Status(ctx, t.Org, t.ID)
	if errors.Is(err, callwright.ErrNotFound) {
		return t.Servers()
	}
	if err != nil {
		return nil, err
	}
	var order, allowed []failover.Server
	for _, i := range failover.Order(status.Current(), states(status)) {
		server := status.Servers[i].Server
		order = append(order, server)
		if s.breaker.Allow(circuit(t.ID, server.String()), s.cfg.Clock.Now()) {
			allowed = append(allowed, server)
		}
	}
	if len(allowed) == 0 {
		return order, nil
	}
	return allowed, nil
}

// circuit returns the key of a trunk's server in the Breaker.
func circuit(trunkID, server string) string { return trunkID + " " + server }

// storePatience is the timeout of store operations: leasing servers and statuses, and writing evidence.
const storePatience = 5 * time.Second

// Observe records the evidence of a call about a server: in the breaker of this node, and in the store. It logs failures. It implements
// calllog.Monitor.
func (s *Service) Observe(ctx context.Context, org callwright.OrgID, trunkID, server string, e health.Evidence) {
	e.At, e.ResponseTime = s.cfg.Clock.Now(), 0
	if e.Alive {
		s.breaker.Succeeded(circuit(trunkID, server))
	} else {
		s.breaker.Failed(circuit(trunkID, server), e.At)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
	defer cancel()
	err := callwright.Retry(ctx, func(ctx context.Context) error { return s.observe(ctx, org, trunkID, server, e) })
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		s.cfg.Logger.ErrorContext(ctx, "the evidence of a call was not written", "trunk_id", trunkID, "error", err)
	}
}

func (s *Service) observe(
	ctx context.Context, org callwright.OrgID, trunkID, server string, e health.Evidence,
) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		status, err := s.cfg.Statuses.Status(ctx, org, trunkID)
		if err != nil {
			return err
		}
		watched, known := find(status, server)
		if !known {
			return nil
		}
		next, news := observed(watched, e)
		if !news {
			return nil
		}
		return s.store(ctx, watched, next)
	})
}
