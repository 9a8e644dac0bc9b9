package sip

import (
	"slices"

	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
)

// Servers is where an outbound trunk's calls may go, by priority: the servers of its failover, or else its endpoint. An
// inbound trunk has none.
func (t Trunk) Servers() ([]failover.Server, error) {
	switch {
	case t.Direction != Outbound:
		return nil, nil
	case t.Failover != nil && t.Failover.Enabled:
		return slices.Clone(t.Failover.Servers), nil
	}
	to, err := uri.ParseDestination(t.Endpoint)
	if err != nil {
		return nil, err
	}
	server := failover.Server{Host: to.Host, Port: to.Port}
	if t.Options.Port != 0 {
		server.Port = uint16(t.Options.Port)
	}
	return []failover.Server{server}, nil
}
