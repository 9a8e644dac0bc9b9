package sip_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright/sip"
)

// TestEverybody checks that lists of networks that cover nearly all addresses, in any notation, count as open to everyone, and that
// restrictive lists do not.
func TestEverybody(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]bool{
		"0.0.0.0/0": true, "::/0": true, "0.0.0.0/0 ::/0": true, "0.0.0.0/1 128.0.0.0/1": true, "::/1 8000::/1": true, "2000::/3": true,
		"10.0.0.0/8 0.0.0.0/2 64.0.0.0/2": true, "2000::/4": true, "128.0.0.0/2 192.0.0.0/3 0.0.0.0/3": true,
		"": false, "192.0.2.1/32": false, "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16": false, "2001:db8::/32 fc00::/7": false, "fc00::/1": false,
		"0.0.0.0/2 0.0.0.0/2 0.0.0.0/3 1.0.0.0/8": false, "64.0.0.0/3 64.0.0.0/3 64.0.0.0/3 64.0.0.0/3": false, "2000::/5": false,
	} {
		var networks []netip.Prefix
		for text := range strings.FieldsSeq(list) {
			networks = append(networks, netip.MustParsePrefix(text))
		}
		trunk := sip.Trunk{Direction: sip.Inbound, Options: sip.Options{AllowedIPs: networks}}
		admits := sip.AdmitsAddresses
		if want || list == "" {
			admits = sip.AdmitsAnyone
		}
		if got := sip.Everybody(networks); got != want || trunk.Admission() != admits {
			t.Errorf("%q: %t, admits %s", list, got, trunk.Admission())
		}
	}
}
