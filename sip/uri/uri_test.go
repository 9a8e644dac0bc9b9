package uri_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/uri"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want uri.URI
		text string // expected result of String, if it differs from in
	}{
		{in: "sip:example.com", want: uri.URI{Scheme: uri.SIP, Host: "example.com"}},
		{in: "SIPS:Bob@Example.COM.:5061", want: uri.URI{Scheme: uri.SIPS, User: "Bob", Host: "example.com", Port: 5061},
			text: "sips:Bob@example.com:5061"},
		{in: "sip:+15551234567@192.0.2.1;user=phone;transport=TLS", want: uri.URI{
			Scheme: uri.SIP, User: "+15551234567", Host: "192.0.2.1",
			Params: []uri.Param{{Name: "user", Value: "phone"}, {Name: "transport", Value: "tls"}},
		}, text: "sip:+15551234567@192.0.2.1;user=phone;transport=tls"},
		{in: "sip:[2001:DB8:0::1]:5070;lr", want: uri.URI{
			Scheme: uri.SIP, Host: "2001:db8::1", Port: 5070, Params: []uri.Param{{Name: "lr"}},
		}, text: "sip:[2001:db8::1]:5070;lr"},
		{in: "sip:a%20b%40c@h.example", want: uri.URI{Scheme: uri.SIP, User: "a b@c", Host: "h.example"}},
		{in: "sip:%61lice@h.example", want: uri.URI{Scheme: uri.SIP, User: "alice", Host: "h.example"},
			text: "sip:alice@h.example"},
		{in: "sip:+1555;phone-context=+1?x/y@h.example", want: uri.URI{
			Scheme: uri.SIP, User: "+1555;phone-context=+1?x/y", Host: "h.example",
		}},
		{in: "sip:bob@h.example?Replaces=12%40h%3Bto-tag%3D1&Subject=", want: uri.URI{
			Scheme: uri.SIP, User: "bob", Host: "h.example",
			Headers: []uri.Param{{Name: "Replaces", Value: "12@h;to-tag=1"}, {Name: "Subject"}},
		}},
		{in: "sip:host;X-Org=a%3Bb", want: uri.URI{
			Scheme: uri.SIP, Host: "host", Params: []uri.Param{{Name: "x-org", Value: "a;b"}},
		}, text: "sip:host;x-org=a%3Bb"},
		{in: "tel:+1-555-1234;phone-context=Example.com", want: uri.URI{
			Scheme: uri.Tel, Opaque: "+1-555-1234;phone-context=Example.com",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := uri.Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
			text := tt.text
			if text == "" {
				text = tt.in
			}
			if got.String() != text {
				t.Errorf("String() = %q, want %q", got.String(), text)
			}
		})
	}
}

// refusedHosts are hosts that neither Parse nor ParseDestination accepts.
var refusedHosts = []string{
	"", ".", "-a.example", "a-.example", "a..example", ".example", "under_score.example", "exa mple.com", "host%41",
	"127.1", "2130706433", "0x7f000001", "0x7f.1", "010.0.0.1", "1.2.3.4.5", "256.1.1.1", "1.2.3.4.",
	"[::1", "::1]", "[1.2.3.4]", "[fe80::1%eth0]", "[::1]x", "[]", "[::1]:", "h:0", "h:65536", "h:-1", "h:+5", "h:", "h:5060x",
	"h:000005060", strings.Repeat("a", 64) + ".example", strings.Repeat("abcdefg.", 32) + "example",
	"bücher.example", "h\r\nX: y", "h\x00", "h\x7f", "h\t",
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []string{
		"", "example.com", "http://example.com", "sip", "sip:", "sip:@h", "sip:a:b@h", "sip:a@b@h", "sip:a b@h", "sip:a%@h",
		"sip:a%2@h", "sip:a%zz@h", "sip:a%0d%0aX@h", "sip:a%00@h", "sip:a%7f@h", "sip:a%ff@h", "sip:h;", "sip:h;=x", "sip:h;a=",
		"sip:h;a=1;A=2", "sip:h;a=b c", "sip:h;a=\"b\"", "sip:h?", "sip:h?a", "sip:h?=b", "sip:h?a=b&",
		"sip:h;a%0a=1", "sip:::1", "tel:", "tel:+1 555", "tel:+1>555", "sip:" + strings.Repeat("a", uri.MaxLength),
	}
	for _, host := range refusedHosts {
		tests = append(tests, "sip:"+host, "sips:alice@"+host+";lr")
	}
	for _, in := range tests {
		got, err := uri.Parse(in)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != "uri" {
			t.Errorf("Parse(%q) = %#v, %v; want a bad request about uri", in, got, err)
		}
	}
}

func TestURIProperties(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in        string
		transport uri.Transport
		port      uint16
		phone     bool
	}{
		{"sip:h", "", 5060, false},
		{"sip:h:5080", "", 5080, false},
		{"sip:h;transport=udp", uri.UDP, 5060, false},
		{"sip:h;transport=tls", uri.TLS, 5061, false},
		{"sip:h:5060;transport=tls", uri.TLS, 5060, false},
		{"sips:h", uri.TLS, 5061, false},
		{"sips:h;transport=tcp", uri.TLS, 5061, false},
		{"sip:1@h;user=PHONE", "", 5060, true},
		{"sip:1@h;user=ip", "", 5060, false},
		{"tel:+15551234", "", 0, false},
	}
	for _, tt := range tests {
		u, err := uri.Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if u.Transport() != tt.transport || u.EffectivePort() != tt.port || u.IsPhone() != tt.phone {
			t.Errorf("%s: %q %d %v, want %q %d %v", tt.in, u.Transport(), u.EffectivePort(), u.IsPhone(),
				tt.transport, tt.port, tt.phone)
		}
	}
}

// text generates values of users, parameters and headers without control characters.
func text() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("aZ09-_.!~*'()&=+$,;?/[]:@%<>\" \\^`{|}üß漢")), 1, 12, -1)
}

func hosts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`([a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?\.){0,3}[a-z]([a-z0-9-]{0,5}[a-z0-9])?`),
		rapid.SampledFrom([]string{"192.0.2.1", "10.0.0.1", "2001:db8::1", "::1", "::ffff:10.0.0.1", "255.255.255.255"}),
	)
}

// TestStringRoundTrips checks that Parse converts the result of String to an equal URI.
func TestStringRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u := uri.URI{
			Scheme: rapid.SampledFrom([]uri.Scheme{uri.SIP, uri.SIPS}).Draw(t, "scheme"),
			Host:   hosts().Draw(t, "host"),
			Port:   rapid.Uint16().Draw(t, "port"),
		}
		if rapid.Bool().Draw(t, "hasUser") {
			u.User = text().Draw(t, "user")
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "params") {
			name := strings.ToLower(text().Draw(t, "name")) + string(rune('a'+i))
			value := rapid.OneOf(rapid.Just(""), text()).Draw(t, "value")
			u.Params = append(u.Params, uri.Param{Name: name, Value: value})
		}
		for range rapid.IntRange(0, 2).Draw(t, "headers") {
			u.Headers = append(u.Headers, uri.Param{Name: text().Draw(t, "header"), Value: text().Draw(t, "content")})
		}
		got, err := uri.Parse(u.String())
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		if !reflect.DeepEqual(got, u) {
			t.Fatalf("%s: got %#v, want %#v", u, got, u)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"sip:alice@example.com;transport=tls?a=b", "sips:[::1]:5061;lr", "tel:+1555", "sip:%41;x@h;a=%20", "sip:1.2.3.4",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		u, err := uri.Parse(in)
		if err != nil {
			return
		}
		text := u.String()
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q: String() = %q holds what could break a message", in, text)
		}
		again, err := uri.Parse(text)
		if len(text) <= uri.MaxLength && (err != nil || !reflect.DeepEqual(again, u)) {
			t.Fatalf("%q: %q reads back as %#v, %v", in, text, again, err)
		}
	})
}
