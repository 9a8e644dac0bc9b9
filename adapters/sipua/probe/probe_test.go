package probe_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/uri"
)

var transports = []uri.Transport{uri.UDP, uri.TCP, uri.TLS}

const capabilities = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n" +
	"m=audio 0 RTP/AVP 8 0 18 101\r\na=rtpmap:101 telephone-event/8000\r\n"

func TestAsksOverEveryTransport(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "localhost", "127.0.0.1")
	for _, transport := range transports {
		headers := "Server: A \x1b[31m\"PBX\" é 1.0\r\nallow: INVITE, ACK,BYE, INVITE , <b>\r\nAllow: REFER\r\nc: application/sdp\r\n"
		peer := respond(t, transport, &cert, answers("200 OK", headers, capabilities))
		p := newProber(t, nil, func(c *probe.Config) { c.PublicHost, c.UserAgent = "sip.example.com", "agent/1" })
		a := p.Probe(within(t, patience), discovery.Probe{Address: peer.address, Transport: transport, Host: "localhost"})
		if a.Code != 200 || a.Error != "" || a.ResponseTime <= 0 || a.Address != peer.address || a.Transport != transport {
			t.Errorf("%s: %+v", transport, a.Attempt)
		}
		if want := `A [31m"PBX"  1.0`; a.UserAgent != want {
			t.Errorf("%s: user agent %q, want %q", transport, a.UserAgent, want)
		}
		if !slices.Equal(a.Methods, []string{"INVITE", "ACK", "BYE", "REFER"}) || !slices.Equal(a.Codecs, []string{"PCMA", "PCMU", "G.729"}) {
			t.Errorf("%s: methods %v, codecs %v", transport, a.Methods, a.Codecs)
		}
		if !slices.Contains(a.Headers, fingerprint.Header{Name: "allow", Value: "INVITE, ACK,BYE, INVITE , <b>"}) {
			t.Errorf("%s: headers %q do not stand as they came", transport, a.Headers)
		}
		if (a.TLS != nil) != (transport == uri.TLS) {
			t.Errorf("%s: TLS %+v", transport, a.TLS)
		}
		if requests := peer.received(); len(requests) != 1 {
			t.Errorf("%s: %d requests", transport, len(requests))
		} else {
			checkRequest(t, requests[0], transport, fmt.Sprintf("sip:localhost:%d", peer.address.Port()))
		}
	}
}

// checkRequest parses a request with sipgo, an independent implementation, and checks its values.
func checkRequest(t *testing.T, text string, transport uri.Transport, target string) {
	t.Helper()
	msg, err := sip.ParseMessage([]byte(strings.TrimSuffix(text, "\r\n\r\n") + "\r\n\r\n"))
	if err != nil {
		t.Errorf("%s: %v in\n%s", transport, err, text)
		return
	}
	req := msg.(*sip.Request)
	if transport != uri.UDP {
		target += ";transport=" + string(transport)
	}
	via := req.Via()
	if req.Method != sip.OPTIONS || req.Recipient.String() != target || via.Transport != strings.ToUpper(string(transport)) ||
		!strings.HasPrefix(via.Params.GetOr("branch", ""), sip.RFC3261BranchMagicCookie) || !via.Params.Has("rport") {
		t.Errorf("%s: not what was meant:\n%s", transport, text)
	}
	for name, want := range map[string]string{
		"Accept": "application/sdp", "User-Agent": "agent/1", "Max-Forwards": "70", "CSeq": "1 OPTIONS", "Content-Length": "0",
	} {
		if h := req.GetHeader(name); h == nil || h.Value() != want {
			t.Errorf("%s: %s is %v, want %s", transport, name, h, want)
		}
	}
	if from := req.From(); from.Address.Host != "sip.example.com" || !from.Params.Has("tag") || req.To().Address.String() != target {
		t.Errorf("%s: From %s, To %s", transport, from, req.To())
	}
}

func TestUserPartAndAddressesInTheRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    discovery.Probe
		want string
	}{
		{discovery.Probe{Host: "pbx.test", User: "ping", Transport: uri.UDP}, "OPTIONS sip:ping@pbx.test:%d SIP/2.0"},
		{discovery.Probe{Host: "2001:db8::1", Transport: uri.TCP}, "OPTIONS sip:[2001:db8::1]:%d;transport=tcp SIP/2.0"},
	} {
		peer := respond(t, c.p.Transport, nil, answers("404 Not Found", "", ""))
		c.p.Address = peer.address
		if a := newProber(t, nil, nil).Probe(within(t, patience), c.p); a.Code != 404 {
			t.Errorf("%s: %+v", c.p.Host, a.Attempt)
		}
		request := peer.received()[0]
		if first, _, _ := strings.Cut(request, "\r\n"); first != fmt.Sprintf(c.want, peer.address.Port()) {
			t.Errorf("request line %q", first)
		}
		if !strings.Contains(request, "From: <sip:callwright@127.0.0.1>;tag=") {
			t.Errorf("From without a public host:\n%s", request)
		}
	}
}

// TestStrangeAnswers checks the result for peers that send no answer, no SIP, an answer in pieces, or other messages around the answer.
func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	type handler = func(request string, send func(...string)) bool
	other := func(request, old, replacement string) string {
		return answer(strings.Replace(request, old, replacement, 1), "200 OK", "", "")
	}
	fine := func(request string) string { return answer(request, "200 OK", "Server: fine\r\n", "body") }
	for _, c := range []struct {
		name    string
		handle  handler
		only    []uri.Transport // nil for all transports
		code    int
		trouble string
	}{
		{"silence", func(string, func(...string)) bool { return false }, nil, 0, "no answer in time"},
		{"garbage", func(_ string, send func(...string)) bool {
			send("\x00\x01\xff garbage\r\n\r\n")
			return false
		}, nil, 0, "the answer is not SIP"},
		{"another protocol", func(_ string, send func(...string)) bool {
			send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			return false
		}, nil, 0, "the answer is not SIP"},
		{"an endless line", func(_ string, send func(...string)) bool {
			send(strings.Repeat("x", 5000))
			return false
		}, nil, 0, "the answer is not SIP"},
		{"garbage, then the answer", func(request string, send func(...string)) bool {
			send("garbage", "SIP/2.0 99 low\r\n\r\n", "SIP/2.0 2000 long\r\n\r\n", fine(request))
			return false
		}, []uri.Transport{uri.UDP}, 200, ""},
		{"endless headers", func(_ string, send func(...string)) bool {
			send("SIP/2.0 200 OK\r\n" + strings.Repeat("X: y\r\n", probe.MaxMessage/6+10))
			return false
		}, []uri.Transport{uri.TCP, uri.TLS}, 0, "the answer is too large: at most 64 KiB a message, and 256 KiB in total"},
		{"a huge body", func(request string, send func(...string)) bool {
			send(answer(request, "200 OK", "", strings.Repeat("x", probe.MaxMessage)))
			return false
		}, []uri.Transport{uri.TCP, uri.TLS}, 0, "the answer is too large: at most 64 KiB a message, and 256 KiB in total"},
		{"a length that is none", func(request string, send func(...string)) bool {
			send(strings.Replace(fine(request), "Content-Length: ", "Content-Length: -", 1))
			return false
		}, []uri.Transport{uri.TCP, uri.TLS}, 0, "the answer is not SIP"},
		{"a flood of others", func(_ string, send func(...string)) bool {
			for range 10_000 {
				send("OPTIONS sip:us SIP/2.0\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("x", 1000))
			}
			return true
		}, []uri.Transport{uri.TCP, uri.TLS}, 0, "the answer is too large: at most 64 KiB a message, and 256 KiB in total"},
		{"a closed connection", func(string, func(...string)) bool { return true },
			[]uri.Transport{uri.TCP, uri.TLS}, 0, "the server closed the connection"},
		{"provisional answers only", func(request string, send func(...string)) bool {
			send(answer(request, "100 Trying", "", ""), answer(request, "183 Progress", "", ""))
			return false
		}, nil, 0, "no answer in time"},
		{"pieces", func(request string, send func(...string)) bool {
			send(strings.Split(fine(request), "")...)
			return false
		}, []uri.Transport{uri.TCP, uri.TLS}, 200, ""},
		{"others before it", func(request string, send func(...string)) bool {
			send(answer(request, "100 Trying", "", "with a body"), other(request, "Call-ID: ", "Call-ID: x"),
				other(request, "CSeq: 1", "CSeq: 2"), other(request, "CSeq: 1 OPTIONS", "CSeq: 1 INVITE"),
				other(request, "branch=z9hG4bK", "branch=z9hG4bKx"), other(request, "Call-ID", "X-None"),
				"OPTIONS sip:us SIP/2.0\r\nCall-ID: theirs\r\nl: 4\r\n\r\nbody", fine(request), fine(request))
			return false
		}, nil, 200, ""},
		{"line ends, folded lines, short names and lines that are none", func(request string, send func(...string)) bool {
			text := strings.NewReplacer("Call-ID: ", "i:", "Via: ", "no header\r\n: none\r\nv: ", ";branch=", "\r\n ;branch=",
				"CSeq: 1 OPTIONS", "cseq : 1\t OPTIONS").Replace(fine(request))
			send("\r\n\r\n" + text)
			return false
		}, []uri.Transport{uri.TCP, uri.TLS}, 200, ""},
	} {
		cert, _ := issue(t, "localhost")
		for _, transport := range transports {
			if c.only != nil && !slices.Contains(c.only, transport) {
				continue
			}
			t.Run(c.name+" over "+string(transport), func(t *testing.T) {
				t.Parallel()
				peer := respond(t, transport, &cert, c.handle)
				limit := patience
				if c.trouble == "no answer in time" || transport == uri.UDP && c.code == 0 {
					limit = time.Second
				}
				a := newProber(t, nil, nil).Probe(within(t, limit), discovery.Probe{Address: peer.address, Transport: transport, Host: "localhost"})
				if a.Code != c.code || a.Error != c.trouble {
					t.Errorf("%d, %q; want %d, %q", a.Code, a.Error, c.code, c.trouble)
				}
				if c.code == 200 && a.UserAgent != "fine" {
					t.Errorf("the answer is %+v", a)
				}
			})
		}
	}
}

func TestAsksAgainOverUDP(t *testing.T) {
	t.Parallel()
	var first string
	peer := respond(t, uri.UDP, nil, func(request string, send func(...string)) bool {
		if first == "" {
			first = request
			return false // simulates a lost request
		}
		if request == first {
			send(answer(request, "200 OK", "", ""))
		}
		return false
	})
	a := newProber(t, nil, nil).Probe(within(t, patience), discovery.Probe{Address: peer.address, Transport: uri.UDP, Host: "localhost"})
	if a.Code != 200 || len(peer.received()) != 2 {
		t.Errorf("%+v after %d requests", a.Attempt, len(peer.received()))
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		a := newProber(t, nil, nil).Probe(within(t, patience), discovery.Probe{
			Address: closed(t, transport), Transport: transport, Host: "localhost",
		})
		if a.Error != "the connection is refused" {
			t.Errorf("%s: %+v", transport, a.Attempt)
		}
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		cert, _ := issue(t, "localhost")
		peer := respond(t, transport, &cert, answers("200 OK", "", ""))
		p := newProber(t, nil, func(c *probe.Config) { c.AllowPrivate = false })
		mapped := netip.AddrPortFrom(netip.AddrFrom16(peer.address.Addr().As16()), peer.address.Port())
		for _, address := range []netip.AddrPort{
			peer.address, mapped, netip.MustParseAddrPort("[::1]:5061"), netip.MustParseAddrPort("169.254.169.254:5060"),
			netip.MustParseAddrPort("10.0.0.1:5060"), netip.MustParseAddrPort("0.0.0.0:5060"), netip.MustParseAddrPort("[fd00::1]:5060"),
		} {
			a := p.Probe(within(t, patience), discovery.Probe{Address: address, Transport: transport, Host: "localhost"})
			if a.Error != "the address is not public" || a.TLS != nil {
				t.Errorf("%s over %s: %+v", address, transport, a.Attempt)
			}
		}
		if len(peer.received()) != 0 || peer.accepts.Load() != 0 {
			t.Errorf("%s: the peer was reached", transport)
		}
	}
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		cert, _ := issue(t, "localhost")
		ctx, cancel := context.WithCancel(t.Context())
		peer := respond(t, transport, &cert, func(string, func(...string)) bool { cancel(); return false })
		a := newProber(t, nil, nil).Probe(ctx, discovery.Probe{Address: peer.address, Transport: transport, Host: "localhost"})
		if a.Error != "the attempt was canceled" {
			t.Errorf("%s: %+v", transport, a.Attempt)
		}
	}
}

func TestHostsThatWouldBeMoreThanThat(t *testing.T) {
	t.Parallel()
	p := newProber(t, nil, nil)
	for _, host := range []string{"", "a b", "x\r\nEvil: 1", "x>", "x;lr", "u@x", "x:5060", "sip:x"} {
		a := p.Probe(within(t, patience), discovery.Probe{Address: netip.MustParseAddrPort("127.0.0.1:9"), Transport: uri.UDP, Host: host})
		if a.Error != "the host must be a host name or an IP address, without a port or brackets" {
			t.Errorf("%q: %+v", host, a.Attempt)
		}
	}
	peer := respond(t, uri.UDP, nil, answers("200 OK", "", ""))
	p.Probe(within(t, patience), discovery.Probe{Address: peer.address, Transport: uri.UDP, Host: "x", User: "a@b> \r\nEvil: 1"})
	if request := peer.received()[0]; strings.Contains(request, "\r\nEvil") || strings.Contains(request, "a@b") {
		t.Errorf("the user part got out:\n%s", request)
	}
}

// TestCertificates checks that the answer describes every certificate, and that the request is sent even if the certificate is invalid.
func TestCertificates(t *testing.T) {
	t.Parallel()
	trusted, _ := issue(t, "localhost", "127.0.0.1")
	stranger := selfSigned(t, time.Now().Add(time.Hour))
	old := selfSigned(t, time.Now().Add(-time.Hour))
	for _, c := range []struct {
		name        string
		cert        tls.Certificate
		host        string
		chain, fits bool
	}{
		{"good", trusted, "localhost", true, true},
		{"good for an address", trusted, "127.0.0.1", true, true},
		{"for another host", trusted, "pbx.test", true, false},
		{"of nobody we trust", stranger, "localhost", false, true},
		{"expired", old, "localhost", false, true},
	} {
		peer := respond(t, uri.TLS, &c.cert, answers("200 OK", "", ""))
		a := newProber(t, nil, nil).Probe(within(t, patience), discovery.Probe{Address: peer.address, Transport: uri.TLS, Host: c.host})
		if a.Code != 200 || a.TLS == nil {
			t.Fatalf("%s: %+v", c.name, a.Attempt)
		}
		leaf, err := x509.ParseCertificate(c.cert.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		want := discovery.Certificate{Version: "TLS 1.3", Chain: c.chain, Name: c.fits, ExpiresAt: leaf.NotAfter}
		if !reflect.DeepEqual(*a.TLS, want) {
			t.Errorf("%s: %+v, want %+v", c.name, *a.TLS, want)
		}
	}
}

// TestNoTLS checks the errors for a server that does not speak TLS, refuses the handshake, or closes the connection.
func TestNoTLS(t *testing.T) {
	t.Parallel()
	for want, greeting := range map[string]string{
		"the server does not speak TLS":        "220 mail.test ready\r\n",
		"the server refuses the TLS handshake": "\x15\x03\x03\x00\x02\x02\x28", // the fatal alert handshake_failure
		"the server closed the connection":     "",
	} {
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte(greeting))
		}()
		a := newProber(t, nil, nil).Probe(within(t, patience), discovery.Probe{
			Address: netip.MustParseAddrPort(ln.Addr().String()), Transport: uri.TLS, Host: "localhost",
		})
		if a.Error != want || a.TLS != nil {
			t.Errorf("%+v, want %q", a.Attempt, want)
		}
		_ = ln.Close()
		<-done
	}
}

// selfSigned returns a self-signed certificate for localhost that expires at the given time.
func selfSigned(t *testing.T, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := probe.New(probe.Config{}); err == nil {
		t.Error("made without what it needs")
	}
}

func FuzzRead(f *testing.F) {
	request := "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKtoken\r\nCall-ID: token\r\nCSeq: 1 OPTIONS\r\n"
	f.Add([]byte(answer(request, "200 OK", "Server: x\r\nAllow: INVITE, ACK\r\nContent-Type: application/sdp\r\n", capabilities)))
	f.Add([]byte("SIP/2.0 200\r\n folded\r\n\r\n"))
	f.Add([]byte("SIP/2.0 503 \r\nRetry-After: 9999999999\r\nl: 3\r\n\r\nabcd"))
	f.Add([]byte("OPTIONS x SIP/2.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		length, agent, methods, codecs, ok := probe.Read(stream)
		if length > len(stream) || length > probe.MaxMessage {
			t.Errorf("a message of %d bytes in %d", length, len(stream))
		}
		if ok && !bytes.HasPrefix(stream, []byte("SIP/2.0 ")) {
			t.Errorf("%q is read as a response", stream)
		}
		unprintable := strings.ContainsFunc(agent, func(r rune) bool { return r < ' ' || r > '~' })
		if len(agent) > 256 || unprintable || len(methods) > 32 || len(codecs) > 64 {
			t.Errorf("%q, %v, %v is more than anybody should see", agent, methods, codecs)
		}
	})
}
