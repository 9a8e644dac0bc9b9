package sip

import (
	"slices"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
)

// normalizedFailover checks a failover configuration, and returns it in the form in which it is stored.
func (s *Service) normalizedFailover(c failover.Config) (failover.Config, error) {
	switch {
	case len(c.Servers) > failover.MaxServers:
		return c, callwright.Invalid("failover_config.endpoints", "must hold at most %d servers", failover.MaxServers)
	case c.Enabled && len(c.Servers) == 0:
		return c, callwright.Invalid("failover_config.endpoints", "must hold at least one server when failover is enabled")
	case c.Failback != "" && c.Failback != failover.Auto && c.Failback != failover.Manual:
		return c, callwright.Invalid("failover_config.failback", "must be auto or manual")
	}
	for i, t := range c.Triggers {
		at := "failover_config.triggers[" + strconv.Itoa(i) + "]"
		if t != failover.Unreachable && t != failover.AuthFailure && t != failover.Timeout {
			return c, callwright.Invalid(at, "must be unreachable, auth_failure or timeout")
		}
		if slices.Contains(c.Triggers[:i], t) {
			return c, callwright.Invalid(at, "must be unique: %s is given twice", t)
		}
	}
	var err error
	c.Servers, err = s.normalizedServers(c.Servers)
	return c, err
}

func (s *Service) normalizedServers(given []failover.Server) ([]failover.Server, error) {
	var servers []failover.Server
	for i, server := range given {
		at := "failover_config.endpoints[" + strconv.Itoa(i) + "].host"
		to, err := uri.ParseDestination(server.Host)
		switch {
		case err != nil:
			return nil, callwright.Invalid(at, "%s", callwright.MessageOf(err))
		case to.Port != 0 || to.User != "" || to.Transport != "":
			return nil, callwright.Invalid(at, "must be a host name or an IP address, without a user, port or transport")
		case to.IsPrivateIP && !s.cfg.AllowPrivate:
			return nil, callwright.Invalid(at, "must not be a private address")
		case s.isSelf(to, int(server.Port)):
			return nil, callwright.Invalid(at, selfEndpoint)
		}
		server.Host = to.Host
		if slices.Contains(servers, server) {
			return nil, callwright.Invalid(at, "must be unique: %s is given twice", server)
		}
		servers = append(servers, server)
	}
	return servers, nil
}
