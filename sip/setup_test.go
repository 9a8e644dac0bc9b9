package sip_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

func TestRegions(t *testing.T) {
	t.Parallel()
	want := map[string]int{"us1": 26, "eu1": 10, "asia1": 6, "ca1": 0}
	seen := map[string]bool{}
	for name, r := range sip.Regions() {
		if n, known := want[name]; !known || len(r.Addresses) != n || r.Name != name || r.Port != 5061 || r.RTPLow != 10000 || r.RTPHigh != 20000 {
			t.Errorf("%s is %+v", name, r)
		}
		for _, a := range r.Addresses {
			if ip, err := netip.ParseAddr(a); err != nil || ip.IsPrivate() || seen[a] {
				t.Errorf("%s: %s, %v", name, a, err)
			}
			seen[a] = true
		}
	}
	if len(sip.Regions()) != len(want) {
		t.Error("there are other regions")
	}
}

func TestFirewall(t *testing.T) {
	t.Parallel()
	h := open(t)
	for org, region := range map[callwright.OrgID]string{"a": "us1", "b": "eu1"} {
		if r, err := h.Firewall(t.Context(), org); err != nil || r.Name != region {
			t.Errorf("%s: got %s, %v", org, r.Name, err)
		}
	}
	if _, err := h.Firewall(t.Context(), "nobody"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	own := open(t, func(c *sip.Config) {
		c.Regions, c.Region = map[string]sip.Region{"here": {Name: "here", Addresses: []string{"192.0.2.1"}}}, "here"
	})
	if r, err := own.Firewall(t.Context(), "a"); err != nil || len(r.Addresses) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := own.Firewall(t.Context(), "b"); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a region that is not here gave %v", err)
	}
}

func TestOutboundSetup(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) {
		c.Regions = sip.Regions()
		us := c.Regions["us1"]
		us.Host = "sip.example.com"
		c.Regions["us1"] = us
	})
	h.attach("a", []string{one}, registering("sip:x.example"))
	h.attach("a", []string{two}, outbound("sip:x.example"))
	for number, username := range map[string]string{"": "", one: "alice", two: ""} {
		s, err := h.OutboundSetup(t.Context(), "a", number)
		if err != nil || s.Host != "sip.example.com" || s.Port != 5061 || s.Username != username {
			t.Errorf("%q: got %+v, %v", number, s, err)
		}
		for _, word := range []string{"sip.example.com:5061;transport=tls", "TLS 1.2", "AES_CM_128_HMAC_SHA1_80", "E.164", "RFC 2833", "10000 to 20000"} {
			if !strings.Contains(s.Instructions, word) {
				t.Errorf("the instructions say nothing of %s", word)
			}
		}
	}
	if _, err := h.OutboundSetup(t.Context(), "a", "+15550000003"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an unknown number gave %v", err)
	}
	if _, err := h.OutboundSetup(t.Context(), "b", one); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a foreign number gave %v", err)
	}
	if _, err := h.OutboundSetup(t.Context(), "b", ""); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a region without a host gave %v", err)
	}
	_, err := h.OutboundSetup(t.Context(), "a", "abc")
	wantField(t, err, callwright.CodeBadRequest, "phone_number")
}
