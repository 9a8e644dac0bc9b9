package sip

import (
	"context"
	"strings"

	"github.com/callwright/callwright"
)

// Region is what customers' firewalls and telephone systems need to know of us.
type Region struct {
	Name      string   // such as "us1"
	Addresses []string // of signalling and media, for firewalls
	Host      string   // where customers' systems send their calls; empty: not set up
	Port      int
	RTPLow    int // media: UDP ports
	RTPHigh   int
}

// The ports of every region: TLS for signaling, UDP for media.
const (
	signalingPort = 5061
	rtpLow        = 10000
	rtpHigh       = 20000
)

// Regions is the regions by their names, with the addresses that are public. ca1 has published none. Hosts are a
// deployment's own, so none is named here.
func Regions() map[string]Region {
	regions := map[string]Region{}
	for name, addresses := range map[string]string{
		"us1": `35.80.235.26 54.189.4.67 100.20.173.20 35.161.106.231 35.81.41.38 35.82.125.138 35.82.184.232 35.84.252.131
			44.224.206.111 44.224.67.132 44.225.32.9 44.235.59.237 44.240.150.132 44.252.152.176 52.27.109.95 52.38.0.204
			52.41.242.206 52.42.27.92 54.172.60.0 54.172.60.1 54.172.60.2 54.172.60.3 54.244.51.0 54.244.51.1 54.244.51.2
			54.244.51.3`,
		"eu1": `52.17.69.204 52.210.181.150 54.171.127.192 54.171.127.193 54.171.127.194 54.171.127.195 35.156.191.128
			35.156.191.129 35.156.191.130 35.156.191.131`,
		"asia1": `13.237.152.149 3.104.178.155 54.252.254.64 54.252.254.65 54.252.254.66 54.252.254.67`,
		"ca1":   "",
	} {
		regions[name] = Region{
			Name: name, Addresses: strings.Fields(addresses), Port: signalingPort, RTPLow: rtpLow, RTPHigh: rtpHigh,
		}
	}
	return regions
}

// Firewall is the addresses and ports of the region that carries an organization's calls. CodeUnavailable when this
// deployment does not know that region.
func (s *Service) Firewall(ctx context.Context, org callwright.OrgID) (Region, error) {
	o, err := s.cfg.Organizations.Organization(ctx, org)
	if err != nil {
		return Region{}, err
	}
	name := s.cfg.Region
	if o.Region != "" {
		name = o.Region
	}
	region, ok := s.cfg.Regions[name]
	if !ok {
		return Region{}, callwright.Errorf(callwright.CodeUnavailable, "the region %s is not set up here", name)
	}
	return region, nil
}
