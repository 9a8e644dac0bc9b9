package sip

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
)

// ConfigChange changes the configuration of one direction of a number. An Optional that is set without a value restores the default.
type ConfigChange struct {
	Number    string
	Direction Direction
	Failover  callwright.Optional[failover.Config] // only for outbound trunks
	Codecs    callwright.Optional[CodecConfig]
	Alerts    callwright.Optional[alert.Config]
}

// Configure changes the configuration of a trunk, and returns the changed trunk. It returns CodeNotFound if the organization has not
// attached that direction. It returns CodeBadRequest with the setting's JSON field if a setting is invalid or this deployment does not
// support it.
func (s *Service) Configure(ctx context.Context, org callwright.OrgID, c ConfigChange) (Trunk, error) {
	n, err := s.Number(ctx, org, c.Number)
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
		assign(&t.Failover, c.Failover)
		assign(&t.Codecs, c.Codecs)
		assign(&t.Alerts, c.Alerts)
		return t, nil
	})
}

// assign replaces a setting if c is set. A nil value restores the default.
func assign[T any](to **T, c callwright.Optional[T]) {
	if c.Set {
		*to = c.Value
	}
}

// normalized checks a change, and returns it in the form in which it is stored.
func (s *Service) normalized(ctx context.Context, org callwright.OrgID, c ConfigChange) (ConfigChange, error) {
	if given := c.Failover.Value; given != nil {
		if c.Direction != Outbound {
			return c, callwright.Invalid("failover_config", "must not be set for the inbound direction")
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

// checkAlerts returns an error for alerts that are invalid or cannot be raised in a direction, and for channels that this deployment does
// not offer.
func (s *Service) checkAlerts(ctx context.Context, org callwright.OrgID, d Direction, c alert.Config) error {
	if err := c.Check(d == Outbound); err != nil {
		return below("alert_config", err)
	}
	return below("alert_config.channels", s.cfg.Monitor.CheckChannels(ctx, org, c.Channels))
}
