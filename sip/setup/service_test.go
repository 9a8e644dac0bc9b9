package setup_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/setup"
)

// trunks is a setup.Trunks in which organization a has two numbers: the number in the constant one registers as alice, and the number in
// the constant two is attached for outbound calls. The Record of any other number is empty.
type trunks struct{}

const (
	one = "+15550000001"
	two = "+15550000002"
)

func (trunks) Get(_ context.Context, org callwright.OrgID, number string) (sip.Record, error) {
	n, err := callwright.ParsePhoneNumber(number)
	switch {
	case err != nil:
		return sip.Record{}, callwright.InField("phone_number", err)
	case org == "a" && n == one:
		return sip.Record{Inbound: &sip.Trunk{Options: sip.Options{Register: sip.Credentials{Username: "alice"}}}}, nil
	case org == "a" && n == two:
		return sip.Record{Outbound: &sip.Trunk{}}, nil
	}
	return sip.Record{}, nil
}

// work stores the handler of the periodic work, so that the test can run it.
type work struct {
	callwright.Work
	forget callwright.Handler
}

func (w *work) Every(_ callwright.Queue, _ string, _ time.Duration, h callwright.Handler) {
	w.forget = h
}

// east and west are the regions of the deployment. west has no Host.
var (
	east = setup.Region{Name: "east", Addresses: []string{"192.0.2.1", "2001:db8::/48"}, Host: "sip.example.com", Port: 5071, RTPLow: 10000, RTPHigh: 20000}
	west = setup.Region{Name: "west", Addresses: []string{"198.51.100.1"}, Port: 5061, RTPLow: 30000, RTPHigh: 30100}
)

// configured returns a deployment with two regions. Organization b is in west. Organization c is in north, which the deployment does not
// contain.
func configured(t *testing.T) setup.Config {
	t.Helper()
	store := memstore.New()
	tenants := orgstore.Tenants{Store: store}
	for _, o := range []callwright.Organization{{ID: "a"}, {ID: "b", Region: "west"}, {ID: "c", Region: "north"}} {
		if err := tenants.InsertOrganization(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return setup.Config{
		Trunks: trunks{}, Organizations: tenants, Drafts: sipstore.Drafts{Store: store}, Regions: []setup.Region{east, west}, Work: new(work),
	}
}

func open(t *testing.T) *setup.Service {
	t.Helper()
	s, err := setup.New(configured(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	region := func(change func(*setup.Region)) func(*setup.Config) {
		return func(c *setup.Config) { change(&c.Regions[1]) }
	}
	for message, change := range map[string]func(*setup.Config){
		"Config.Trunks is required":                                                              func(c *setup.Config) { c.Trunks = nil },
		"Config.Organizations is required":                                                       func(c *setup.Config) { c.Organizations = nil },
		"Config.Drafts is required":                                                              func(c *setup.Config) { c.Drafts = nil },
		"Config.Work is required":                                                                func(c *setup.Config) { c.Work = nil },
		"Config.Regions is required":                                                             func(c *setup.Config) { c.Regions = nil },
		"Config.Regions[1].Name is required":                                                     region(func(r *setup.Region) { r.Name = "" }),
		"Config.Regions[1].Name must be unique":                                                  region(func(r *setup.Region) { r.Name = "east" }),
		"Config.Regions[1].Addresses must have at least one IP address or network":               region(func(r *setup.Region) { r.Addresses = nil }),
		`Config.Regions[1].Addresses: "example.com" must be an IP address or a network`:          region(func(r *setup.Region) { r.Addresses = []string{"example.com"} }),
		"Config.Regions[1].Port must be from 1 to 65535":                                         region(func(r *setup.Region) { r.Port = 0 }),
		"Config.Regions[1].RTPLow and RTPHigh must be from 1 to 65535, RTPLow not above RTPHigh": region(func(r *setup.Region) { r.RTPLow = 30200 }),
	} {
		c := configured(t)
		change(&c)
		if _, err := setup.New(c); err == nil || err.Error() != "setup: "+message {
			t.Errorf("got %v, want %s", err, message)
		}
	}
}

func TestFirewall(t *testing.T) {
	t.Parallel()
	s := open(t)
	for org, want := range map[callwright.OrgID]setup.Region{"a": east, "b": west} {
		if got, err := s.Firewall(t.Context(), org); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", org, got, err)
		}
	}
	if _, err := s.Firewall(t.Context(), "nobody"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Firewall(t.Context(), "c"); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a region that is not here gave %v", err)
	}
}

func TestOutboundSetup(t *testing.T) {
	t.Parallel()
	s := open(t)
	for number, username := range map[string]string{"": "", one: "alice", two: ""} {
		got, err := s.OutboundSetup(t.Context(), "a", number)
		if err != nil || got.Host != "sip.example.com" || got.Port != 5071 || got.Username != username {
			t.Errorf("%q: got %+v, %v", number, got, err)
		}
		for _, word := range []string{"sip.example.com:5071;transport=tls", "TLS 1.2", "AES_CM_128_HMAC_SHA1_80", "E.164", "RFC 2833", "10000 to 20000"} {
			if !strings.Contains(got.Instructions, word) {
				t.Errorf("the instructions say nothing of %s", word)
			}
		}
	}
	if _, err := s.OutboundSetup(t.Context(), "a", "+15550000003"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an unknown number gave %v", err)
	}
	if _, err := s.OutboundSetup(t.Context(), "b", one); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a foreign number gave %v", err)
	}
	if _, err := s.OutboundSetup(t.Context(), "b", ""); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a region without a host gave %v", err)
	}
	_, err := s.OutboundSetup(t.Context(), "a", "abc")
	if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != "phone_number" {
		t.Errorf("got %v", err)
	}
}
