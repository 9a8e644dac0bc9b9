package sip

import (
	"slices"

	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
)

// Servers returns the servers of an outbound trunk by priority: the servers of an enabled failover, or otherwise the endpoint. It returns
// none for an inbound trunk.
func (t Trunk) Servers() ([]failover.Server, error) {
	switch {
	case t.Direction != Outbound:
		return nil, nil
	case t.Failover != nil && t.Failover.Enabled:
		return slices.Clone(t.Failover.Servers), nil
	}
	server, err := t.endpoint()
	return []failover.Server{server}, err
}

// Peers returns all servers that a trunk names: its endpoint or registrar, and the servers of its failover, even of a disabled one. It
// omits an invalid endpoint.
func (t Trunk) Peers() []uri.URI {
	var servers []failover.Server
	if t.Endpoint != "" {
		if server, err := t.endpoint(); err == nil {
			servers = append(servers, server)
		}
	}
	if t.Failover != nil {
		servers = append(servers, t.Failover.Servers...)
	}
	all := make([]uri.URI, 0, len(servers))
	for _, server := range servers {
		all = append(all, over(server))
	}
	return all
}

// endpoint returns the server of a trunk's endpoint. If the endpoint has no port, the result has Options.Port.
func (t Trunk) endpoint() (failover.Server, error) {
	to, err := uri.ParseDestination(t.Endpoint)
	server := failover.Server{Host: to.Host, Port: to.Port}
	if server.Port == 0 {
		server.Port = uint16(t.Options.Port)
	}
	return server, err
}

// over returns the URI of a server, with TLS as the transport.
func over(s failover.Server) uri.URI {
	return uri.URI{
		Scheme: uri.SIP, Host: s.Host, Port: s.Port, Params: []uri.Param{{Name: "transport", Value: string(uri.TLS)}},
	}
}
