package sip

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
)

// Optional is one setting of a change. A setting that is not Set stays as it is; Set with a nil Value, it returns to the
// default.
type Optional[T any] struct {
	Set   bool
	Value *T
}

// ConfigChange changes the configuration of one direction of a number.
type ConfigChange struct {
	Number    string
	Direction Direction
	Failover  Optional[failover.Config] // outbound only
	Codecs    Optional[CodecConfig]
	Alerts    Optional[alert.Config]
}

// Configure changes the configuration of a trunk and gives the trunk as it is then. CodeNotFound when the organization
// has not attached that direction; CodeBadRequest with the field of the configuration, as JSON has it, when a part of it
// can't be acted on.
func (s *Service) Configure(ctx context.Context, org callwright.OrgID, c ConfigChange) (Trunk, error) {
	n, err := numberOf(c.Number)
	if err != nil {
		return Trunk{}, err
	}
	if err := checkDirection(c.Direction); err != nil {
		return Trunk{}, callwright.InField("direction", err)
	}
	if c, err = s.normalized(ctx, org, c); err != nil {
		return Trunk{}, err
	}
	return s.change(ctx, org, n, c.Direction, func(_ Record, t Trunk) (Trunk, error) {
		c.Failover.apply(&t.Failover)
		c.Codecs.apply(&t.Codecs)
		c.Alerts.apply(&t.Alerts)
		return t, nil
	})
}

func (p Optional[T]) apply(to **T) {
	if p.Set {
		*to = p.Value
	}
}

// normalized is a change with its names as they are kept, or what is wrong with it.
func (s *Service) normalized(ctx context.Context, org callwright.OrgID, c ConfigChange) (ConfigChange, error) {
	if given := c.Failover.Value; given != nil {
		if c.Direction != Outbound {
			return c, callwright.Invalid("failover_config", "belongs to the outbound direction")
		}
		config, err := s.normalizedFailover(*given)
		if err != nil {
			return c, err
		}
		c.Failover.Value = &config
	}
	if given := c.Codecs.Value; given != nil {
		config, err := given.normalized(s.cfg.Codecs)
		if err != nil {
			return c, err
		}
		c.Codecs.Value = &config
	}
	if given := c.Alerts.Value; given != nil {
		return c, s.checkAlerts(ctx, org, c.Direction, *given)
	}
	return c, nil
}

// checkAlerts refuses alerts that could not be raised, or over channels that this deployment does not have.
func (s *Service) checkAlerts(ctx context.Context, org callwright.OrgID, d Direction, c alert.Config) error {
	if err := c.Check(d == Outbound); err != nil {
		return below("alert_config", err)
	}
	return below("alert_config.channels", s.cfg.Monitor.CheckChannels(ctx, org, c.Channels))
}
