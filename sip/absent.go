package sip

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
)

// noMonitor is used if Config.Monitor is nil. It watches nothing.
type noMonitor struct{}

func (noMonitor) Watch(context.Context, Trunk) error { return nil }

func (noMonitor) Unwatch(context.Context, Trunk) error { return nil }

func (noMonitor) Servers(_ context.Context, t Trunk) ([]failover.Server, error) { return t.Servers() }

// CheckChannels returns CodeBadRequest if a channel is enabled, because no alert is ever raised.
func (noMonitor) CheckChannels(_ context.Context, _ callwright.OrgID, c alert.Channels) error {
	if channels := c.Enabled(); len(channels) > 0 {
		return callwright.Invalid(string(channels[0]), "must not be set: this deployment does not watch trunks")
	}
	return nil
}

// noNumbers is used if Config.Numbers is nil. It registers nothing.
type noNumbers struct{}

func (noNumbers) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

func (noNumbers) ReleaseInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}
