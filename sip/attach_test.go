package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
)

// away is a callwright.Atomic of an unreachable database.
type away struct{}

func (away) Do(context.Context, func(context.Context) error) error { return callwright.ErrUnavailable }

func TestAttachWithoutStore(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) { c.Atomic = away{} })
	done, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{one}, Directions: []sip.DirectionInput{inbound()}})
	if !errors.Is(err, callwright.ErrUnavailable) || len(done.Failed) != 0 {
		t.Errorf("got %+v, %v: an outage is not the number's fault", done, err)
	}
}

// TestChangesAreTold checks that Config.Changed is called after an attachment and a detachment, but not after a failure.
func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	told := 0
	h := open(t, func(c *sip.Config) { c.Changed = func() { told++ } })
	h.attach("a", []string{one}, outbound("sip:x.example"))
	if told != 1 {
		t.Errorf("told %d times of an attachment", told)
	}
	if _, err := h.Detach(t.Context(), "a", one, []sip.Direction{sip.Inbound}); err == nil || told != 1 {
		t.Errorf("told %d times, of a failure: %v", told, err)
	}
	if _, err := h.Detach(t.Context(), "a", one, []sip.Direction{sip.Outbound}); err != nil || told != 2 {
		t.Errorf("told %d times, %v", told, err)
	}
}

func TestAttachPartly(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("other", []string{"+15550000003"}, inbound())
	done, err := h.Attach(t.Context(), "a", sip.Attachment{
		Numbers:    []string{one, "15550000002", "+15550000003", "abc", one},
		Directions: []sip.DirectionInput{inbound(), outbound("sip:pbx.example.com:5071;transport=tls")},
	})
	if got := fmt.Sprint(done.Configured); err != nil || got != "[+15550000001 +15550000002]" {
		t.Errorf("configured %s, %v", got, err)
	}
	if len(done.Failed) != 2 || done.Failed[0].Number != "+15550000003" || done.Failed[1].Number != "abc" ||
		done.Failed[0].Err.Code != callwright.CodeConflict || done.Failed[1].Err.Code != callwright.CodeBadRequest {
		t.Errorf("failed %+v", done.Failed)
	}
	if h.numbers[one] != "a" || h.numbers["+15550000003"] != "other" {
		t.Errorf("registered %v", h.numbers)
	}
	if foreign := h.get("a", "+15550000003"); foreign != (sip.Record{}) {
		t.Errorf("a foreign number's record is %+v", foreign)
	}
	if len(h.monitor.watched) != 1+2*2 {
		t.Errorf("%d trunks are watched", len(h.monitor.watched))
	}
}

func TestAttachAgainReplaces(t *testing.T) {
	t.Parallel()
	h := open(t)
	first := outbound("sip:one.example.com")
	first.CallUsername, first.CallPassword, first.Port = new("u"), new(callwright.Secret("p")), new(5071)
	h.attach("a", []string{one}, first)
	old := h.get("a", one).Outbound
	if _, err := h.Configure(t.Context(), "a", sip.ConfigChange{
		Number: one, Direction: sip.Outbound, Failover: part(failover.Config{Servers: []failover.Server{{Host: "x.example"}}}),
	}); err != nil {
		t.Fatal(err)
	}
	h.attach("a", []string{one}, outbound("sip:two.example.com"))
	r := h.get("a", " 15550000001") // an unescaped plus sign in a URL arrives as a space
	got := r.Outbound
	if r.Inbound != nil || got == nil || got.Endpoint != "sip:two.example.com" || got.ID != old.ID || got.Version != 3 {
		t.Fatalf("got %+v", r)
	}
	if got.Options.Call != (sip.Credentials{}) || got.Options.Port != 0 || got.Failover == nil {
		t.Errorf("got %+v: the options are new, and the configuration stays", got)
	}
}

// TestAttachRefuses checks that an invalid direction fails the whole attachment.
func TestAttachRefuses(t *testing.T) {
	t.Parallel()
	in := func(change func(*sip.DirectionInput)) []sip.DirectionInput {
		d := inbound()
		change(&d)
		return []sip.DirectionInput{d}
	}
	out := func(change func(*sip.DirectionInput)) []sip.DirectionInput {
		d := outbound("sip:x.example")
		change(&d)
		return []sip.DirectionInput{d}
	}
	to := func(endpoint string) []sip.DirectionInput { return []sip.DirectionInput{outbound(endpoint)} }
	register := func(username string, password callwright.Secret) []sip.DirectionInput {
		d := registering("sip:x.example")
		d.Register = &sip.Credentials{Username: username, Password: password}
		return []sip.DirectionInput{d}
	}
	for name, test := range map[string]struct {
		directions []sip.DirectionInput
		field      string
	}{
		"no directions":    {nil, "directions"},
		"three directions": {make([]sip.DirectionInput, 3), "directions"},
		"the same twice":   {[]sip.DirectionInput{inbound(), inbound()}, "directions[1].type"},
		"odd direction":    {[]sip.DirectionInput{inbound(), {Type: "both"}}, "directions[1].type"},

		"no endpoint":        {[]sip.DirectionInput{{Type: sip.Outbound}}, "directions[0].sip_endpoint"},
		"the second one's":   {[]sip.DirectionInput{inbound(), {Type: sip.Outbound}}, "directions[1].sip_endpoint"},
		"endpoint in":        {in(func(d *sip.DirectionInput) { d.Endpoint = new("sip:x.example") }), "directions[0].sip_endpoint"},
		"odd endpoint":       {to("sip:a b"), "directions[0].sip_endpoint"},
		"plain endpoint":     {to("sip:x.example;transport=udp"), "directions[0].sip_endpoint"},
		"private endpoint":   {to("sip:10.0.0.1"), "directions[0].sip_endpoint"},
		"private registrar":  {[]sip.DirectionInput{registering("sip:127.0.0.1")}, "directions[0].sip_endpoint"},
		"plain registrar":    {[]sip.DirectionInput{registering("tcp://x.example")}, "directions[0].sip_endpoint"},
		"a mode out":         {out(func(d *sip.DirectionInput) { d.AuthMode = new(sip.AuthIP) }), "directions[0].auth_mode"},
		"odd mode":           {in(func(d *sip.DirectionInput) { d.AuthMode = new(sip.AuthMode("digest")) }), "directions[0].auth_mode"},
		"registering out":    {out(func(d *sip.DirectionInput) { d.Register = new(sip.Credentials{}) }), "directions[0].register_auth"},
		"registering by ip":  {in(func(d *sip.DirectionInput) { d.Register = new(sip.Credentials{}) }), "directions[0].register_auth"},
		"registering as who": {in(func(d *sip.DirectionInput) { d.AuthMode = new(sip.AuthRegister) }), "directions[0].register_auth"},
		"no user name":       {register("", "12345678"), "directions[0].register_auth.username"},
		"a line in the user": {register("u\r\nX: y", "12345678"), "directions[0].register_auth.username"},
		"no password":        {register("u", ""), "directions[0].register_auth.password"},
		"a short password":   {register("u", "ÄÖÜäöü7"), "directions[0].register_auth.password"},
		"a long password":    {register("u", callwright.Secret(strings.Repeat("p", 257))), "directions[0].register_auth.password"},

		"plain transport":  {out(func(d *sip.DirectionInput) { d.Transport = new("tcp") }), "directions[0].options.transport"},
		"plain media":      {out(func(d *sip.DirectionInput) { d.SecureMedia = new(false) }), "directions[0].options.secure_media"},
		"odd port":         {out(func(d *sip.DirectionInput) { d.Port = new(65536) }), "directions[0].options.port"},
		"negative port":    {out(func(d *sip.DirectionInput) { d.Port = new(-1) }), "directions[0].options.port"},
		"odd verification": {out(func(d *sip.DirectionInput) { d.Verify = new(sip.TLSVerification("some")) }), "directions[0].options.tls_verification"},
		"a line in the name": {out(func(d *sip.DirectionInput) {
			d.CallUsername, d.CallPassword = new("u\r\nX: y"), new(callwright.Secret("p"))
		}), "directions[0].options.sip_username"},
		"a name that is not UTF-8": {out(func(d *sip.DirectionInput) {
			d.CallUsername, d.CallPassword = new("\xff"), new(callwright.Secret("p"))
		}), "directions[0].options.sip_username"},
		"a long call password": {out(func(d *sip.DirectionInput) {
			d.CallUsername, d.CallPassword = new("u"), new(callwright.Secret(strings.Repeat("p", 257)))
		}), "directions[0].options.sip_password"},
		"half the credentials": {out(func(d *sip.DirectionInput) { d.CallUsername = new("u") }), "directions[0].options.sip_username"},
		"sources out": {out(func(d *sip.DirectionInput) {
			d.AllowedIPs = new([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")})
		}), "directions[0].options.allowed_ips"},
		"101 sources": {in(func(d *sip.DirectionInput) { d.AllowedIPs = new(make([]netip.Prefix, 101)) }), "directions[0].options.allowed_ips"},
		"no source":   {in(func(d *sip.DirectionInput) { d.AllowedIPs = new(make([]netip.Prefix, 1)) }), "directions[0].options.allowed_ips[0]"},
		"IPv4 as IPv6": {in(func(d *sip.DirectionInput) {
			d.AllowedIPs = new([]netip.Prefix{netip.MustParsePrefix("::ffff:192.0.2.0/120")})
		}), "directions[0].options.allowed_ips[0]"},
		"SIP's header": {in(func(d *sip.DirectionInput) {
			d.Headers = &[]header.Rule{{Custom: &header.Custom{Key: "Via", Value: "v"}}}
		}), "directions[0].headers.headers[0].key"},
		"SIP's header out": {out(func(d *sip.DirectionInput) {
			d.Headers = &[]header.Rule{{Custom: &header.Custom{Key: "v", Value: "Via"}}}
		}), "directions[0].headers.headers[0].value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			_, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{one}, Directions: test.directions})
			wantField(t, err, callwright.CodeBadRequest, test.field)
			if h.get("a", one) != (sip.Record{}) {
				t.Error("the number is attached")
			}
		})
	}
	for _, n := range []int{0, sip.MaxNumbers + 1} {
		_, err := open(t).Attach(t.Context(), "a", sip.Attachment{Numbers: make([]string, n), Directions: []sip.DirectionInput{inbound()}})
		wantField(t, err, callwright.CodeBadRequest, "phone_numbers")
	}
}

func TestAttachKeeps(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, outbound("sip:old.example.com"))
	done, err := h.Attach(t.Context(), "a", sip.Attachment{
		Numbers: []string{one, two, two}, Directions: []sip.DirectionInput{inbound(), outbound("sip:new.example.com")}, Keep: true,
	})
	if err != nil || fmt.Sprint(done.Configured) != "["+two+"]" || len(done.Failed) != 1 || done.Failed[0].Number != one ||
		done.Failed[0].Err.Code != callwright.CodeInvalidState || done.Failed[0].Err.Message != "has an outbound trunk already: change that trunk, or remove it first" {
		t.Errorf("got %+v, %v", done, err)
	}
	if r := h.get("a", one); r.Inbound != nil || r.Outbound.Endpoint != "sip:old.example.com" {
		t.Errorf("it became %+v", r)
	}
}

func TestAttachAllOrNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.monitor.err = callwright.ErrConflict
	done, err := h.Attach(t.Context(), "a", sip.Attachment{
		Numbers: []string{one}, Directions: []sip.DirectionInput{registering("sip:x.example"), outbound("sip:x.example")},
	})
	if err != nil || len(done.Failed) != 1 || done.Password != "" || h.get("a", one) != (sip.Record{}) {
		t.Errorf("got %+v, %v and %+v", done, err, h.get("a", one))
	}
}

func TestAttachRegister(t *testing.T) {
	t.Parallel()
	h := open(t)
	done := h.attach("a", []string{one, two}, registering("sip:registrar.example"))
	password := done.Password.Reveal()
	if !regexp.MustCompile(`^[a-z2-7]{32}$`).MatchString(password) {
		t.Errorf("the password is %q", password)
	}
	for _, n := range []string{one, two} {
		in := h.get("a", n).Inbound
		if in.Options.Register.Username != "alice" || in.Options.Register.Password.Reveal() != password || in.Endpoint != "sip:registrar.example" {
			t.Errorf("%s has %+v", n, in)
		}
		r, err := h.registrations.Registration(t.Context(), "a", in.ID)
		if err != nil || r.State != sip.Registering || r.Number != in.Number || !r.NextAt.Equal(start) {
			t.Errorf("%s has the registration %+v, %v", n, r, err)
		}
	}
}

// TestDerivedPassword checks that the same key, organization, username and given password derive the same password, and that a change of
// any of the four derives another one.
func TestDerivedPassword(t *testing.T) {
	t.Parallel()
	derive := func(key, org, username, password string) callwright.Secret {
		h := open(t, func(c *sip.Config) { c.DerivationKey = callwright.Secret(key) })
		d := registering("sip:x.example")
		d.Register = &sip.Credentials{Username: username, Password: callwright.Secret(password)}
		return h.attach(callwright.OrgID(org), []string{one}, d).Password
	}
	key := strings.Repeat("k", 32)
	want := derive(key, "a", "alice", "12345678")
	if again := derive(key, "a", "alice", "12345678"); again != want {
		t.Error("the same input gave another password")
	}
	seen := map[callwright.Secret]bool{want: true}
	for _, other := range []callwright.Secret{
		derive(key+"k", "a", "alice", "12345678"), derive(key, "b", "alice", "12345678"), derive(key, "a", "bob", "12345678"),
		derive(key, "a", "alice", "12345679"), derive(key, "a", "alice1", "23456789"), derive(key, "a", "alic", "e12345678"),
	} {
		if seen[other] {
			t.Error("another input gave the same password")
		}
		seen[other] = true
	}
}

func TestRegistrar(t *testing.T) {
	t.Parallel()
	t.Run("of the same request", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		out := outbound("pbx.example.com")
		out.Port = new(5071)
		h.attach("a", []string{one}, registering(""), out)
		if got := h.get("a", one).Inbound.Endpoint; got != "sip:pbx.example.com:5071;transport=tls" {
			t.Errorf("registers with %s", got)
		}
	})
	t.Run("that is stored", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		h.attach("a", []string{one}, outbound("tls://pbx.example.com"))
		h.attach("a", []string{one}, registering(""))
		if got := h.get("a", one).Inbound.Endpoint; got != "sip:pbx.example.com;transport=tls" {
			t.Errorf("registers with %s", got)
		}
	})
	t.Run("nowhere", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		done, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{one}, Directions: []sip.DirectionInput{registering("")}})
		if err != nil || len(done.Failed) != 1 || done.Password != "" {
			t.Fatalf("got %+v, %v", done, err)
		}
		wantField(t, done.Failed[0].Err, callwright.CodeBadRequest, "directions[0].sip_endpoint")
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := sip.New(configured(memstore.New())); err != nil {
		t.Errorf("with required fields alone: %v", err)
	}
	for message, change := range map[string]func(*sip.Config){
		"Config.Store is required":                                            func(c *sip.Config) { c.Store = nil },
		"Config.Atomic is required":                                           func(c *sip.Config) { c.Atomic = nil },
		"Config.Statuses is required":                                         func(c *sip.Config) { c.Statuses = nil },
		"Config.Registrations is required":                                    func(c *sip.Config) { c.Registrations = nil },
		"Config.Codecs is required":                                           func(c *sip.Config) { c.Codecs = nil },
		"Config.Codecs: \"MP3\" must be a codec of package sdp, such as PCMU": func(c *sip.Config) { c.Codecs = []string{"MP3"} },
		"Config.DerivationKey is required":                                    func(c *sip.Config) { c.DerivationKey = "" },
		"Config.DerivationKey must have at least 32 bytes":                    func(c *sip.Config) { c.DerivationKey = "short" },
	} {
		c := configured(memstore.New())
		change(&c)
		if _, err := sip.New(c); err == nil || err.Error() != "sip: "+message {
			t.Errorf("got %v, want %s", err, message)
		}
	}
}
