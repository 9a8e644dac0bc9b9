package setup

import (
	"fmt"
	"net/netip"
)

// Region describes one region of a deployment to customers.
type Region struct {
	Name      string   // as callwright.Organization.Region names it
	Addresses []string // IP addresses or networks that signaling and media come from and go to; at least one
	Host      string   // destination of calls from customers' telephone systems; empty: none
	Port      int      // of SIP over TLS
	RTPLow    int      // first UDP port of media
	RTPHigh   int      // last UDP port of media
}

// checkRegions returns an error that names the first region and field that are invalid.
func checkRegions(regions []Region) error {
	names := map[string]bool{}
	for i, r := range regions {
		if problem := r.check(); problem != "" {
			return fmt.Errorf("setup: Config.Regions[%d].%s", i, problem)
		}
		if names[r.Name] {
			return fmt.Errorf("setup: Config.Regions[%d].Name must be unique", i)
		}
		names[r.Name] = true
	}
	return nil
}

// check returns the first invalid field and its constraint; empty without one.
func (r Region) check() string {
	const maxPort = 65535
	switch {
	case r.Name == "":
		return "Name is required"
	case len(r.Addresses) == 0:
		return "Addresses is required"
	case r.Port < 1 || r.Port > maxPort:
		return fmt.Sprintf("Port must be from 1 to %d", maxPort)
	case r.RTPLow < 1 || r.RTPHigh > maxPort || r.RTPLow > r.RTPHigh:
		return fmt.Sprintf("RTPLow and RTPHigh must be a range from 1 to %d", maxPort)
	}
	for _, text := range r.Addresses {
		_, err := netip.ParseAddr(text)
		if _, prefixErr := netip.ParsePrefix(text); err != nil && prefixErr != nil {
			return fmt.Sprintf("Addresses: %q must be an IP address or a network", text)
		}
	}
	return ""
}
