package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
)

func part[T any](value T) callwright.Optional[T] {
	return callwright.Optional[T]{Set: true, Value: &value}
}

// configure changes a trunk's configuration, and stops the test if the change is refused.
func (h *house) configure(c sip.ConfigChange) sip.Trunk {
	h.t.Helper()
	t, err := h.Configure(h.t.Context(), "a", c)
	if err != nil {
		h.t.Fatal(err)
	}
	return t
}

func TestOutboundRoute(t *testing.T) {
	t.Parallel()
	h := open(t, private)
	out := outbound("sip:127.0.0.1;transport=tls")
	out.Port, out.CallUsername, out.CallPassword = new(5071), new("u"), new(callwright.Secret("p"))
	out.Verify, out.Headers = new(sip.VerifyChain), &[]header.Rule{{UUI: &header.UUI{Target: "v"}}}
	h.attach("a", []string{one}, out)
	r, err := h.Outbound(t.Context(), "a", one)
	if err != nil || fmt.Sprint(r.Servers) != "[sip:127.0.0.1:5071;transport=tls]" || r.Verify != sip.VerifyChain ||
		r.Credentials.Password.Reveal() != "p" || len(r.Headers) != 1 || r.Failover.Enabled || r.Transcode {
		t.Errorf("got %+v, %v", r, err)
	}
	if !slices.Equal(r.Codecs, []string{"PCMU", "PCMA"}) { // G.722 is not enabled by default
		t.Errorf("codecs %v", r.Codecs)
	}
	_, err = h.Outbound(t.Context(), "b", one)
	wantField(t, err, callwright.CodeBadRequest, "from")
}

// TestPortOfEndpointAndOptions checks that a trunk's port may be set in the endpoint, in the options, or in both if they are equal.
func TestPortOfEndpointAndOptions(t *testing.T) {
	t.Parallel()
	h := open(t, private)
	to := func(endpoint string, port int) sip.DirectionInput {
		in := outbound(endpoint)
		in.Port = new(port)
		return in
	}
	h.attach("a", []string{one}, to("sip:127.0.0.1", 5061))
	_, err := h.Update(t.Context(), "a", one, outbound("sip:127.0.0.1:5070"))
	wantField(t, err, callwright.CodeBadRequest, "updates.options.port")
	if text := fmt.Sprint(err); !strings.Contains(text, "5061") || !strings.Contains(text, "sip_endpoint has the port 5070") {
		t.Errorf("the error names not both: %s", text)
	}
	h.update(to("sip:127.0.0.1:5070", 5070))
	r, err := h.Outbound(t.Context(), "a", one)
	if err != nil || fmt.Sprint(r.Servers) != "[sip:127.0.0.1:5070;transport=tls]" {
		t.Errorf("got %v, %v", r.Servers, err)
	}
}

func TestOutboundRouteConfigured(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, outbound("sip:pbx.example.com"))
	f := failover.Config{Enabled: true, Servers: []failover.Server{{Host: "x.example"}, {Host: "y.example", Port: 5071}}}
	h.configure(sip.ConfigChange{Number: one, Direction: sip.Outbound, Failover: part(f), Codecs: part(sip.CodecConfig{
		Transcode: true, Codecs: []sip.CodecSetting{{"g.722", true}, {"PCMA", false}, {"PCMU", true}},
	})})
	r, err := h.Outbound(t.Context(), "a", one)
	if err != nil || fmt.Sprint(r.Servers) != "[sip:y.example:5071;transport=tls sip:x.example;transport=tls]" || !r.Failover.Enabled {
		t.Errorf("got %+v, %v", r, err)
	}
	if !slices.Equal(r.Codecs, []string{"G722", "PCMU"}) || !r.Transcode {
		t.Errorf("codecs %v, transcode %v", r.Codecs, r.Transcode)
	}

	h.monitor.err = callwright.ErrUnavailable // an outage of the Monitor must not prevent calls
	if r, err := h.Outbound(t.Context(), "a", one); err != nil || fmt.Sprint(r.Servers) != "[sip:x.example;transport=tls sip:y.example:5071;transport=tls]" {
		t.Errorf("got %v, %v", r.Servers, err)
	}
	h.monitor.err = nil

	other := configured(h.store)
	other.Codecs = []string{"PCMA"} // as after a restart with a build that has fewer engines
	s, err := sip.New(other)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Outbound(t.Context(), "a", one); err != nil || !slices.Equal(r.Codecs, []string{"PCMA"}) {
		t.Errorf("got %v, %v: there is nothing else to offer", r.Codecs, err)
	}
}

func TestInboundRoute(t *testing.T) {
	t.Parallel()
	const office, stranger = "192.0.2.9", "198.51.100.1"
	list := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	for name, test := range map[string]struct {
		registers  bool
		list       []netip.Prefix
		from       string
		registered bool // the call uses the trunk's registration
		admitted   bool
	}{
		"anybody":                      {false, nil, stranger, false, true},
		"from the list":                {false, list, office, false, true},
		"from the list, as IPv6":       {false, list, "::ffff:192.0.2.9", false, true},
		"from the list of IPv6":        {false, list, "2001:db8::1", false, true},
		"from elsewhere":               {false, list, stranger, false, false},
		"over a registration of none":  {false, list, stranger, true, false},
		"over the registration":        {true, nil, stranger, true, true},
		"not over the registration":    {true, nil, stranger, false, false},
		"over it, and in no list":      {true, list, stranger, true, true},
		"not over it, but in the list": {true, list, office, false, true},
		"neither":                      {true, list, stranger, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			in := inbound()
			if test.registers {
				in = registering("sip:x.example")
			}
			in.AllowedIPs, in.CallUsername, in.CallPassword = &test.list, new("u"), new(callwright.Secret("p"))
			h.attach("a", []string{one}, in)
			peer := sip.Peer{Address: netip.MustParseAddr(test.from), Registered: []string{"another"}}
			if test.registered {
				peer.Registered = append(peer.Registered, h.get("a", one).Inbound.ID)
			}
			r, err := h.Inbound(t.Context(), one, peer)
			if test.admitted != (err == nil) || err != nil && !errors.Is(err, callwright.ErrForbidden) {
				t.Errorf("got %v", err)
			}
			if r.Org != "a" || r.Number != one || r.TrunkID == "" || r.Credentials.Username != "u" || r.Verify != sip.VerifyFull {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestInboundTenants checks that the called number distinguishes two organizations that share an address.
func TestInboundTenants(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, inbound())
	h.attach("b", []string{two}, inbound())
	peer := sip.Peer{Address: netip.MustParseAddr("192.0.2.9")}
	for number, org := range map[callwright.PhoneNumber]callwright.OrgID{one: "a", two: "b"} {
		if r, err := h.Inbound(t.Context(), number, peer); err != nil || r.Org != org {
			t.Errorf("%s is %s's, %v", number, r.Org, err)
		}
	}
	if _, err := h.Inbound(t.Context(), "+15550000003", peer); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an unknown number gave %v", err)
	}
}

func TestCaller(t *testing.T) {
	t.Parallel()
	h := open(t)
	expect := func(from, want callwright.PhoneNumber) {
		t.Helper()
		got, err := h.Caller(t.Context(), "a", from)
		if want == "" {
			wantField(t, err, callwright.CodeBadRequest, "from")
		} else if got != want || err != nil {
			t.Errorf("from %q gave %q, %v; want %q", from, got, err, want)
		}
	}
	expect("", "")
	h.attach("a", []string{one}, outbound("sip:x.example"))
	expect("", one)
	expect(one, one)
	h.attach("a", []string{two}, outbound("sip:x.example"))
	expect("", "")
	expect(two, two)
	h.attach("a", []string{"+15550000003"}, inbound())
	expect("+15550000003", "")
}

// TestCallersAreKnownByTheirServers checks that an inbound route contains the registrar of the number and the servers of its outbound
// trunk, because these servers identify the callers.
func TestCallersAreKnownByTheirServers(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, registering("sip:registrar.example:5071"))
	h.attach("a", []string{one}, outbound("sip:pbx.example"))
	h.attach("a", []string{two}, inbound())
	h.attach("b", []string{"+15550000003"}, outbound("sip:other.example"))
	for number, want := range map[callwright.PhoneNumber]string{
		one: "[sip:registrar.example:5071;transport=tls sip:pbx.example;transport=tls]", two: "[]",
	} {
		peer := sip.Peer{Address: netip.MustParseAddr("192.0.2.9"), Contact: h.get("a", string(number)).Inbound.ContactUser()}
		r, err := h.Inbound(t.Context(), number, peer)
		if got := fmt.Sprint(r.Servers); err != nil || got != want {
			t.Errorf("%s: %s, %v", number, got, err)
		}
	}
}

// countries is a callwright.Numbering that maps organizations to their default countries.
type countries map[callwright.OrgID]callwright.Country

func (c countries) Organization(_ context.Context, id callwright.OrgID) (callwright.Organization, error) {
	country, known := c[id]
	if !known {
		return callwright.Organization{}, callwright.NotFound("organization")
	}
	return callwright.Organization{ID: id, DefaultCountry: country}, nil
}

// TestNationalNumbersComeIn checks which number is called by digits without a plus, depending on the organizations that have attached
// numbers, and on their default countries.
func TestNationalNumbersComeIn(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) {
		c.Numbering = countries{"us": "US", "us2": "US", "gb": "GB", "none": "", "ch": ""}
	})
	from := func(network string) sip.DirectionInput {
		in := inbound()
		in.AllowedIPs = &[]netip.Prefix{netip.MustParsePrefix(network)}
		return in
	}
	h.attach("us", []string{"+14155550123", "+14155550199"}, from("192.0.2.0/24"))
	h.attach("ch", []string{"+4155550199"}, from("198.51.100.0/24"))
	h.attach("us2", []string{"+14155550177", "+4155550177"}, from("192.0.2.0/24"))
	h.attach("gb", []string{"+442079460123"}, from("192.0.2.0/24"))
	h.attach("none", []string{"+14155550155"}, from("192.0.2.0/24"))
	for _, test := range []struct {
		digits string
		to     callwright.PhoneNumber // the digits read as E.164; empty if invalid
		from   string
		want   callwright.PhoneNumber
		code   callwright.Code
	}{
		{"4155550123", "+4155550123", "192.0.2.1", "+14155550123", ""},
		{"14155550123", "+14155550123", "192.0.2.1", "+14155550123", ""},
		{"4155550123", "+4155550123", "198.51.100.1", "+14155550123", callwright.CodeForbidden},
		{"02079460123", "", "192.0.2.1", "+442079460123", ""},
		{"442079460123", "+442079460123", "192.0.2.1", "+442079460123", ""},
		{"4155550199", "+4155550199", "192.0.2.1", "+14155550199", ""},   // only the first organization admits this peer
		{"4155550199", "+4155550199", "198.51.100.1", "+4155550199", ""}, // only the second organization admits this peer
		{"4155550177", "+4155550177", "192.0.2.1", "", callwright.CodeConflict},
		{"4155550155", "+4155550155", "192.0.2.1", "", callwright.CodeConflict}, // without a default country the digits are ambiguous
		{"4155550100", "+4155550100", "192.0.2.1", "", callwright.CodeNotFound},
	} {
		r, err := h.Inbound(t.Context(), test.to, sip.Peer{Address: netip.MustParseAddr(test.from), Digits: test.digits})
		if callwright.CodeOf(err) != test.code || r.Number != test.want {
			t.Errorf("%s from %s is %q, %v; want %q %s", test.digits, test.from, r.Number, err, test.want, test.code)
		}
	}
}
