package setup

import (
	"fmt"
	"net/netip"
)

// Region describes one region of a deployment to customers: its addresses and ports.
type Region struct {
	Name      string   // value of callwright.Organization.Region
	Addresses []string // IP addresses or networks that send and receive signaling and media; at least one
	Host      string   // host to which customers' telephone systems send calls; may be empty
	Port      int      // port of SIP over TLS
	RTPLow    int      // first UDP port of media
	RTPHigh   int      // last UDP port of media
}

// checkRegions returns an error about the first invalid region or repeated name, or nil.
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

// check returns the name of the first invalid field and its constraint, or "" if all are valid.
func (r Region) check() string {
	const maxPort = 65535
	switch {
	case r.Name == "":
		return "Name is required"
	case len(r.Addresses) == 0:
		return "Addresses must have at least one IP address or network"
	case r.Port < 1 || r.Port > maxPort:
		return fmt.Sprintf("Port must be from 1 to %d", maxPort)
	case r.RTPLow < 1 || r.RTPHigh > maxPort || r.RTPLow > r.RTPHigh:
		return fmt.Sprintf("RTPLow and RTPHigh must be from 1 to %d, RTPLow not above RTPHigh", maxPort)
	}
	for _, text := range r.Addresses {
		_, err := netip.ParseAddr(text)
		if _, prefixErr := netip.ParsePrefix(text); err != nil && prefixErr != nil {
			return fmt.Sprintf("Addresses: %q must be an IP address or a network", text)
		}
	}
	return ""
}
