// Package testdns is a name server for tests: its zone is given in code, it listens on loopback over UDP and TCP, and it
// can be as broken as name servers are.
package testdns

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// maxChain bounds the aliases that are followed for one answer, so that loops end.
const maxChain = 8

// Server is a running name server.
type Server struct {
	address string

	mu      sync.Mutex
	zone    map[question][]dns.RR
	moods   map[string]answerKind
	queries map[question]int
	closing chan struct{}
}

// question is a name, in lower case and with its final dot, and a type of record.
type question struct {
	name string
	kind uint16
}

// answerKind is the kind of answer to all questions about a name.
type answerKind struct {
	silent bool
	rcode  int
	delay  time.Duration
}

// Start runs a server until the test ends. The zone's records are in the form of a zone file, such as
// "pbx.test. A 192.0.2.1", "_sips._tcp.pbx.test. SRV 10 0 5061 a.pbx.test." or "www.pbx.test. CNAME pbx.test.".
// A name that has other records alone has none of the asked type; every other name does not exist.
func Start(t testing.TB, zone ...string) *Server {
	t.Helper()
	s := &Server{moods: map[string]answerKind{}, queries: map[question]int{}, closing: make(chan struct{})}
	s.Set(t, zone...)
	udp, tcp := listen(t)
	s.address = udp.LocalAddr().String()
	servers := []*dns.Server{{PacketConn: udp, Handler: s}, {Listener: tcp, Handler: s}}
	var wg sync.WaitGroup
	for _, server := range servers {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		wg.Go(func() {
			if err := server.ActivateAndServe(); err != nil {
				t.Errorf("name server: %v", err)
			}
		})
		<-started
	}
	t.Cleanup(func() {
		close(s.closing)
		for _, server := range servers {
			if err := server.Shutdown(); err != nil {
				t.Errorf("name server: %v", err)
			}
		}
		wg.Wait()
	})
	return s
}

// listen takes one port for both protocols.
func listen(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	var lc net.ListenConfig
	for range 20 {
		udp, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		tcp, err := lc.Listen(t.Context(), "tcp", udp.LocalAddr().String())
		if err == nil {
			return udp, tcp
		}
		_ = udp.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

// Set replaces the zone.
func (s *Server) Set(t testing.TB, zone ...string) {
	t.Helper()
	records := map[question][]dns.RR{}
	for _, line := range zone {
		rr, err := dns.NewRR(line)
		if err != nil || rr == nil {
			t.Fatalf("%q is no record: %v", line, err)
		}
		q := question{strings.ToLower(rr.Header().Name), rr.Header().Rrtype}
		records[q] = append(records[q], rr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zone = records
}

// Silence leaves every question about a name without an answer.
func (s *Server) Silence(name string) { s.set(name, answerKind{silent: true}) }

// Fail answers every question about a name with SERVFAIL.
func (s *Server) Fail(name string) { s.set(name, answerKind{rcode: dns.RcodeServerFailure}) }

// Delay answers every question about a name late.
func (s *Server) Delay(name string, by time.Duration) { s.set(name, answerKind{delay: by}) }

func (s *Server) set(name string, m answerKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moods[dns.CanonicalName(name)] = m
}

// Address returns the address at which it listens, over UDP and TCP: "127.0.0.1:port".
func (s *Server) Address() string { return s.address }

// Resolver returns a resolver that asks this server alone. Its queries end with the caller's context: a plain net.Resolver would keep
// waiting for an answer in the background.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, network, s.address)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		},
	}
}

// Asked returns the number of questions about a name: of one type, such as "SRV", or of any with "".
func (s *Server) Asked(name, kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for q, n := range s.queries {
		if q.name == dns.CanonicalName(name) && (kind == "" || q.kind == dns.StringToType[kind]) {
			sum += n
		}
	}
	return sum
}

// ServeDNS answers one question.
func (s *Server) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	if len(r.Question) != 1 {
		return
	}
	q := question{dns.CanonicalName(r.Question[0].Name), r.Question[0].Qtype}
	s.mu.Lock()
	s.queries[q]++
	m := s.moods[q.name]
	answer := new(dns.Msg)
	answer.SetReply(r)
	answer.Authoritative, answer.RecursionAvailable = true, true
	answer.Compress = true
	if answer.Rcode = m.rcode; m.rcode == dns.RcodeSuccess {
		answer.Answer, answer.Rcode = s.find(q)
	}
	s.mu.Unlock()
	if m.silent {
		return
	}
	if m.delay > 0 {
		select {
		case <-time.After(m.delay):
		case <-s.closing:
			return
		}
	}
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
		size := dns.MinMsgSize
		if opt := r.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
		}
		answer.Truncate(size)
	}
	_ = w.WriteMsg(answer)
}

// find returns the records that answer a question, behind the aliases that lead to them.
func (s *Server) find(q question) (found []dns.RR, rcode int) {
	for range maxChain {
		if records := s.zone[q]; len(records) > 0 {
			return append(found, records...), dns.RcodeSuccess
		}
		aliases := s.zone[question{q.name, dns.TypeCNAME}]
		if len(aliases) == 0 {
			break
		}
		found = append(found, aliases[0])
		q.name = dns.CanonicalName(aliases[0].(*dns.CNAME).Target)
	}
	if !s.exists(q.name) {
		return found, dns.RcodeNameError
	}
	return found, dns.RcodeSuccess
}

func (s *Server) exists(name string) bool {
	kinds := []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeSRV, dns.TypeCNAME}
	return slices.ContainsFunc(kinds, func(kind uint16) bool { return len(s.zone[question{name, kind}]) > 0 })
}
