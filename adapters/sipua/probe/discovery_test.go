package probe_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// TestDiscovery checks a discovery of a host whose DNS records name four servers on loopback: two over TLS (one of which never answers),
// one over TCP and one over UDP.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "pbx.test")
	headers := "Server: Asterisk PBX 20.9.3\r\nAllow: OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE, ACK\r\nContent-Type: application/sdp\r\n"
	plain := answers("200 OK", "User-Agent: old\r\n", "")
	secure := respond(t, uri.TLS, &cert, answers("200 OK", headers, capabilities))
	tcp, udp := respond(t, uri.TCP, nil, plain), respond(t, uri.UDP, nil, plain)
	silent := respond(t, uri.TLS, &cert, func(string, func(...string)) bool { return false })
	const idle = "127.53.1.9" // no server listens at the default ports of this address
	zone := []string{"pbx.test. A " + idle, "a.pbx.test. A 127.0.0.1"}
	for service, peers := range map[string][]*responder{"_sips._tcp": {silent, secure}, "_sip._tcp": {tcp}, "_sip._udp": {udp}} {
		for i, p := range peers {
			zone = append(zone, fmt.Sprintf("%s.pbx.test. SRV %d 0 %d a.pbx.test.", service, i, p.address.Port()))
		}
	}
	resolver, err := resolve.New(resolve.Config{DNS: testdns.Start(t, zone...).Resolver()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := discovery.New(discovery.Config{
		Store: sipstore.Discoveries{Store: memstore.New()}, Resolver: resolver, Prober: newProber(t, nil, nil), AllowPrivate: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.Start(t.Context(), "org", discovery.Request{Host: "pbx.test"})
	if err != nil {
		t.Fatal(err)
	}
	d := begun
	for deadline := time.Now().Add(patience); d.Status == discovery.Running && time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		if d, err = s.Get(t.Context(), "org", begun.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	r := d.Recommended
	if d.Status != discovery.Completed || r == nil || r.Port != secure.address.Port() || r.Transport != uri.TLS ||
		r.System.System != "Asterisk" || r.System.Version != "20.9.3" || !slices.Equal(r.Codecs, []string{"PCMA", "PCMU", "G.729"}) {
		t.Errorf("%s: %s, recommended %+v", d.Status, d.Reason, r)
	}
	results := map[uint16]string{}
	for _, a := range d.Attempts {
		if a.Address.Addr().String() != idle {
			results[a.Address.Port()] = fmt.Sprint(a.Transport, " ", a.Code, " ", a.UserAgent, " ", a.Error)
		}
	}
	for peer, want := range map[*responder]string{
		secure: "tls 200 Asterisk PBX 20.9.3 ", tcp: "tcp 200 old ", udp: "udp 200 old ", silent: "tls 0  no answer in time",
	} {
		if got := results[peer.address.Port()]; got != want {
			t.Errorf("attempt %q, want %q", got, want)
		}
	}
}
