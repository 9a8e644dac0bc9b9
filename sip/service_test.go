package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip"
)

// registry notes the numbers that begin to be called.
type registry struct {
	numbers map[callwright.PhoneNumber]callwright.OrgID
}

func (r *registry) RegisterInbound(_ context.Context, org callwright.OrgID, n callwright.PhoneNumber) error {
	r.numbers[n] = org
	return nil
}

func newService(t *testing.T, allowPrivate bool) (*sip.Service, *registry) {
	t.Helper()
	store, numbers := memstore.New(), &registry{map[callwright.PhoneNumber]callwright.OrgID{}}
	s, err := sip.New(sip.Config{
		Store: memstore.Trunks{Store: store}, Atomic: store, Numbers: numbers, Codecs: []string{"PCMU", "PCMA"},
		AllowPrivate: allowPrivate,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, numbers
}

func outbound(endpoint string) sip.DirectionInput {
	return sip.DirectionInput{Type: sip.Outbound, Endpoint: &endpoint}
}

func attach(t *testing.T, s *sip.Service, org callwright.OrgID, a sip.Attachment) sip.Attached {
	t.Helper()
	done, err := s.Attach(t.Context(), org, a)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// away is a database that can't be reached.
type away struct{}

func (away) Do(context.Context, func(context.Context) error) error { return callwright.ErrUnavailable }

func TestAttachWithoutStore(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, true)
	s.Atomic = away{}
	done, err := s.Attach(t.Context(), "a", sip.Attachment{
		Numbers: []string{"+15550000001"}, Directions: []sip.DirectionInput{{Type: sip.Inbound}},
	})
	if !errors.Is(err, callwright.ErrUnavailable) || len(done.Failed) != 0 {
		t.Errorf("got %+v, %v: an outage is not the number's fault", done, err)
	}
}

func TestAttachPartly(t *testing.T) {
	t.Parallel()
	s, numbers := newService(t, false)
	attach(t, s, "other", sip.Attachment{
		Numbers: []string{"+15550000003"}, Directions: []sip.DirectionInput{{Type: sip.Inbound}},
	})
	done := attach(t, s, "a", sip.Attachment{
		Numbers:    []string{"+15550000001", "15550000002", "+15550000003", "abc", "+15550000001"},
		Directions: []sip.DirectionInput{{Type: sip.Inbound}, outbound("sip:pbx.example.com:5071;transport=tls")},
	})
	if got := fmt.Sprint(done.Configured); got != "[+15550000001 +15550000002]" {
		t.Errorf("configured %s", got)
	}
	if len(done.Failed) != 2 || done.Failed[0].Number != "+15550000003" || done.Failed[1].Number != "abc" ||
		done.Failed[0].Err.Code != callwright.CodeConflict || done.Failed[1].Err.Code != callwright.CodeBadRequest {
		t.Errorf("failed %+v", done.Failed)
	}
	if numbers.numbers["+15550000001"] != "a" || numbers.numbers["+15550000003"] != "other" {
		t.Errorf("registered %v", numbers.numbers)
	}
	if foreign, err := s.Get(t.Context(), "a", "+15550000003"); err != nil || foreign != (sip.Record{}) {
		t.Errorf("a foreign number's record is %+v, %v", foreign, err)
	}
}

func TestAttachAgainReplaces(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, false)
	for _, host := range []string{"one.example.com", "two.example.com"} {
		attach(t, s, "a", sip.Attachment{
			Numbers: []string{"+15550000001"}, Directions: []sip.DirectionInput{outbound("sip:" + host)},
		})
	}
	r, err := s.Get(t.Context(), "a", " 15550000001") // as an unescaped plus arrives
	if err != nil || r.Inbound != nil || r.Outbound == nil || r.Outbound.Endpoint != "sip:two.example.com" {
		t.Errorf("got %+v, %v", r, err)
	}
	if r.Outbound.Version != 2 {
		t.Errorf("version %d", r.Outbound.Version)
	}
}

func TestAttachRefuses(t *testing.T) {
	t.Parallel()
	plain, one := false, []string{"+15550000001"}
	in := func(o sip.Options) []sip.DirectionInput {
		return []sip.DirectionInput{{Type: sip.Inbound, Options: o}}
	}
	out := func(e string, o sip.Options) []sip.DirectionInput {
		return []sip.DirectionInput{{Type: sip.Outbound, Endpoint: e, Options: o}}
	}
	for name, test := range map[string]struct {
		numbers    []string
		directions []sip.DirectionInput
		field      string
	}{
		"no numbers":       {nil, in(sip.Options{}), "phone_numbers"},
		"101 numbers":      {make([]string, 101), in(sip.Options{}), "phone_numbers"},
		"no directions":    {one, nil, "directions"},
		"the same twice":   {one, append(in(sip.Options{}), in(sip.Options{})...), "directions[1].type"},
		"odd direction":    {one, []sip.DirectionInput{{Type: "both"}}, "directions[0].type"},
		"no endpoint":      {one, out("", sip.Options{}), "directions[0].sip_endpoint"},
		"endpoint in":      {one, []sip.DirectionInput{{Type: sip.Inbound, Endpoint: "sip:x"}}, "directions[0].sip_endpoint"},
		"odd endpoint":     {one, out("sip:a b", sip.Options{}), "directions[0].sip_endpoint"},
		"plain endpoint":   {one, out("sip:x.example;transport=udp", sip.Options{}), "directions[0].sip_endpoint"},
		"private endpoint": {one, out("sip:10.0.0.1", sip.Options{}), "directions[0].sip_endpoint"},
		"plain transport":  {one, out("sip:x.example", sip.Options{Transport: "tcp"}), "directions[0].options.transport"},
		"plain media":      {one, out("sip:x.example", sip.Options{SecureMedia: &plain}), "directions[0].options.secure_media"},
		"odd port":         {one, out("sip:x.example", sip.Options{Port: 65536}), "directions[0].options.port"},
		"odd verification": {one, out("sip:x.example", sip.Options{Verify: "some"}), "directions[0].options.tls_verification"},
		"a line in the name": {one, out("sip:x.example", sip.Options{
			Call: sip.Credentials{Username: "u\r\nX: y", Password: "p"},
		}), "directions[0].options.sip_username"},
		"half the credentials": {one, out("sip:x.example", sip.Options{Call: sip.Credentials{Username: "u"}}), "directions[0].options.sip_username"},
		"sources out":          {one, out("sip:x.example", sip.Options{AllowedIPs: []netip.Prefix{{}}}), "directions[0].options.allowed_ips"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newService(t, false)
			_, err := s.Attach(t.Context(), "a", sip.Attachment{Numbers: test.numbers, Directions: test.directions})
			var e *callwright.Error
			if !errors.As(err, &e) || e.Code != callwright.CodeBadRequest || e.Field != test.field {
				t.Errorf("got %v, want a bad request about %s", err, test.field)
			}
		})
	}
}

func TestAttachRegisterIsNotBuilt(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, false)
	_, err := s.Attach(t.Context(), "a", sip.Attachment{
		Numbers: []string{"+15550000001"}, Directions: []sip.DirectionInput{{Type: sip.Inbound, Options: sip.Options{AuthMode: "register"}}},
	})
	if !errors.Is(err, callwright.ErrNotImplemented) {
		t.Errorf("got %v", err)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, true)
	office := netip.MustParsePrefix("192.0.2.0/24")
	attach(t, s, "a", sip.Attachment{Numbers: []string{"+15550000001"}, Directions: []sip.DirectionInput{
		{Type: sip.Inbound, Options: sip.Options{AllowedIPs: []netip.Prefix{office}}},
		{Type: sip.Outbound, Endpoint: "sip:127.0.0.1:5099;transport=tls", Options: sip.Options{
			Port: 5071, Call: sip.Credentials{Username: "u", Password: "p"}, Verify: sip.VerifyChain,
		}},
	}})
	out, err := s.Outbound(t.Context(), "a", "+15550000001")
	if err != nil || out.Servers[0].String() != "sip:127.0.0.1:5071;transport=tls" || out.Verify != sip.VerifyChain ||
		out.Credentials.Password.Reveal() != "p" || len(out.Codecs) != 2 {
		t.Errorf("outbound %+v, %v", out, err)
	}
	if _, err := s.Outbound(t.Context(), "b", "+15550000001"); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("a foreign number gave %v", err)
	}
	in, err := s.Inbound(t.Context(), "+15550000001", sip.Peer{Address: netip.MustParseAddr("::ffff:192.0.2.9")})
	if err != nil || in.Org != "a" || in.Verify != sip.VerifyFull {
		t.Errorf("inbound %+v, %v", in, err)
	}
	if _, err := s.Inbound(t.Context(), "+15550000001", sip.Peer{Address: netip.MustParseAddr("198.51.100.1")}); !errors.Is(err, callwright.ErrForbidden) {
		t.Errorf("a stranger gave %v", err)
	}
	if _, err := s.Inbound(t.Context(), "+15550000002", sip.Peer{Address: netip.MustParseAddr("192.0.2.9")}); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an unknown number gave %v", err)
	}
}

func TestCaller(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, false)
	expect := func(from, want callwright.PhoneNumber) {
		t.Helper()
		got, err := s.Caller(t.Context(), "a", from)
		var e *callwright.Error
		if refused := errors.As(err, &e) && e.Field == "from"; got != want && !(want == "" && refused) || want != "" && err != nil {
			t.Errorf("from %q gave %q, %v; want %q", from, got, err, want)
		}
	}
	expect("", "")
	attach(t, s, "a", sip.Attachment{Numbers: []string{"+15550000001"}, Directions: []sip.DirectionInput{outbound("sip:x.example")}})
	expect("", "+15550000001")
	expect("+15550000001", "+15550000001")
	attach(t, s, "a", sip.Attachment{Numbers: []string{"+15550000002"}, Directions: []sip.DirectionInput{outbound("sip:x.example")}})
	expect("", "")
	expect("+15550000002", "+15550000002")
	attach(t, s, "a", sip.Attachment{Numbers: []string{"+15550000003"}, Directions: []sip.DirectionInput{{Type: sip.Inbound}}})
	if _, err := s.Caller(t.Context(), "a", "+15550000003"); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("an inbound number gave %v", err)
	}
}
