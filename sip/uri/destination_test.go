package uri_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/uri"
)

func TestParseDestination(t *testing.T) {
	t.Parallel()
	tests := map[string]uri.Destination{
		"pbx.Example.com":      {Host: "pbx.example.com", Normalized: "sip:pbx.example.com"},
		" pbx.example.com ":    {Host: "pbx.example.com", Normalized: "sip:pbx.example.com"},
		"localhost":            {Host: "localhost", Normalized: "sip:localhost"},
		"pbx.example.com:5080": {Host: "pbx.example.com", Port: 5080, Normalized: "sip:pbx.example.com:5080"},
		"203.0.113.9":          {Host: "203.0.113.9", Normalized: "sip:203.0.113.9"},
		"10.1.2.3:5060":        {Host: "10.1.2.3", Port: 5060, IsPrivateIP: true, Normalized: "sip:10.1.2.3:5060"},
		"2001:DB8::1":          {Host: "2001:db8::1", Normalized: "sip:[2001:db8::1]"},
		"[2001:db8::1]":        {Host: "2001:db8::1", Normalized: "sip:[2001:db8::1]"},
		"[fd00::1]:5062":       {Host: "fd00::1", Port: 5062, IsPrivateIP: true, Normalized: "sip:[fd00::1]:5062"},
		"tls://pbx.example.com": {Host: "pbx.example.com", Transport: uri.TLS,
			Normalized: "sip:pbx.example.com;transport=tls"},
		"TLS://[::1]:5099/": {Host: "::1", Port: 5099, Transport: uri.TLS, IsPrivateIP: true,
			Normalized: "sip:[::1]:5099;transport=tls"},
		"tls://2001:db8::5": {Host: "2001:db8::5", Transport: uri.TLS, Normalized: "sip:[2001:db8::5];transport=tls"},
		"udp://192.0.2.7":   {Host: "192.0.2.7", Transport: uri.UDP, Normalized: "sip:192.0.2.7;transport=udp"},
		"sip:alice@pbx.example.com:5080;transport=tcp;lr?x=y": {Host: "pbx.example.com", Port: 5080, User: "alice",
			Transport: uri.TCP, Normalized: "sip:alice@pbx.example.com:5080;transport=tcp"},
		"sips:pbx.example.com":               {Host: "pbx.example.com", Transport: uri.TLS, Normalized: "sips:pbx.example.com"},
		"sips:pbx.example.com;transport=tcp": {Host: "pbx.example.com", Transport: uri.TLS, Normalized: "sips:pbx.example.com"},
		"sip:a%20b@192.168.0.1":              {Host: "192.168.0.1", User: "a b", IsPrivateIP: true, Normalized: "sip:a%20b@192.168.0.1"},
	}
	for in, want := range tests {
		got, err := uri.ParseDestination(in)
		if err != nil || got != want {
			t.Errorf("ParseDestination(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
}

func TestParseDestinationRefuses(t *testing.T) {
	t.Parallel()
	tests := []string{
		" ", "tel:+15551234567", "tls://", "tls:///", "tls://h/path", "http://h", "https://pbx.example.com", "://h",
		"sip:h;transport=ws", "sip:h;transport", "sips:h;transport=udp", "sip:h;maddr=127.0.0.1", "user@h", "h;transport=tls",
		"sip://h", "sip:2001:db8::1", "2001:db8::1:zz", ":::", "fe80::1%eth0", "a:b:c", "h\n", strings.Repeat("a.", 2000) + "b",
	}
	tests = append(tests, refusedHosts...)
	for _, host := range refusedHosts {
		tests = append(tests, "sip:"+host, "tls://"+host)
	}
	for _, in := range tests {
		got, err := uri.ParseDestination(in)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != "input" {
			t.Errorf("ParseDestination(%q) = %+v, %v; want a bad request about input", in, got, err)
		}
	}
}

func TestIsPrivateIP(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"10.0.0.1": true, "172.16.0.1": true, "172.32.0.1": false, "192.168.1.1": true, "127.0.0.1": true,
		"169.254.169.254": true, "100.64.0.1": true, "100.128.0.1": false, "0.0.0.0": true, "0.1.2.3": true, "8.8.8.8": false,
		"::1": true, "::": true, "fe80::1": true, "fd12::1": true, "2001:db8::1": false,
		"192.0.0.8": true, "198.19.0.1": true, "198.20.0.1": false, "224.0.0.1": true, "240.0.0.1": true, "255.255.255.255": true,
		"223.255.255.1": false, "2002:7f00:1::": true, "64:ff9b::7f00:1": true, "64:ff9b:1::a00:1": true, "::7f00:1": true,
		"ff02::1": true, "fec0::1": true, "2606:4700::1": false,
		"::ffff:10.0.0.1": true, "::ffff:8.8.8.8": false, "localhost": false, "pbx.internal": false,
	}
	for in, want := range tests {
		d, err := uri.ParseDestination(in)
		if err != nil || d.IsPrivateIP != want {
			t.Errorf("%s: private %v, %v; want %v", in, d.IsPrivateIP, err, want)
		}
	}
}

func TestEffectivePort(t *testing.T) {
	t.Parallel()
	tests := map[string]uint16{
		"h": 5060, "h:5099": 5099, "tls://h": 5061, "tls://h:5060": 5060, "tcp://h": 5060, "sips:h": 5061,
		"sip:h;transport=tls": 5061,
	}
	for in, want := range tests {
		d, err := uri.ParseDestination(in)
		if err != nil || d.EffectivePort() != want {
			t.Errorf("%s: port %d, %v; want %d", in, d.EffectivePort(), err, want)
		}
	}
}

// TestNormalizedIsStable checks that Normalized is a valid URI and parses to the same destination.
func TestNormalizedIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u := uri.URI{Scheme: uri.SIP, Host: hosts().Draw(t, "host"), Port: rapid.Uint16().Draw(t, "port")}
		if rapid.Bool().Draw(t, "hasUser") {
			u.User = text().Draw(t, "user")
		}
		if transport := rapid.SampledFrom([]string{"", "udp", "tcp", "tls"}).Draw(t, "transport"); transport != "" {
			u.Params = []uri.Param{{Name: "transport", Value: transport}}
		}
		d, err := uri.ParseDestination(u.String())
		if err != nil {
			t.Fatal(err)
		}
		again, err := uri.ParseDestination(d.Normalized)
		if err != nil || again != d {
			t.Fatalf("%s: %+v reads back as %+v, %v", u, d, again, err)
		}
		if parsed, err := uri.Parse(d.Normalized); err != nil || !reflect.DeepEqual(parsed, u) {
			t.Fatalf("%s: normalized is %+v, %v", u, parsed, err)
		}
	})
}

func FuzzParseDestination(f *testing.F) {
	for _, seed := range []string{
		"pbx.example.com:5060", "tls://h", "sip://@h", "sip:a://b@h", "2001:db8::1", "[::1]:5061", "sip:a@h;transport=tls", "sips:h", "tel:+1", "127.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		d, err := uri.ParseDestination(in)
		if err != nil {
			return
		}
		if again, err := uri.ParseDestination(d.Normalized); len(d.Normalized) <= uri.MaxLength && (err != nil || again != d) {
			t.Fatalf("%q: %+v reads back as %+v, %v", in, d, again, err)
		}
	})
}

func BenchmarkParseDestination(b *testing.B) {
	for _, in := range []string{"pbx.example.com", "[2001:db8::1]:5061", "sip:alice@pbx.example.com:5061;transport=tls"} {
		b.Run(in, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := uri.ParseDestination(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleParseDestination() {
	d, err := uri.ParseDestination("tls://PBX.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Host, d.Transport, d.Port, d.EffectivePort(), d.Normalized)
	// Output: pbx.example.com tls 0 5061 sip:pbx.example.com;transport=tls
}

func ExampleParse() {
	u, err := uri.Parse("sip:+15551234567@pbx.example.com;user=phone")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.User, u.Host, u.IsPhone(), u.EffectivePort())
	// Output: +15551234567 pbx.example.com true 5060
}
