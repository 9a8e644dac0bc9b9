// Package testdns runs a name server for tests on the loopback interface, over UDP and TCP. The test sets its zone, and can make it silent,
// slow or faulty.
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

// maxChain limits the aliases that the server follows for an answer, so that a loop of aliases ends.
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

// question is a name, in lower case with its final dot, and a record type.
type question struct {
	name string
	kind uint16
}

// answerKind determines how the server answers all questions about a name.
type answerKind struct {
	silent bool
	rcode  int
	delay  time.Duration
}

// Start runs a server until the test ends. The records of the zone have the form of a zone file, such as "pbx.test. A 192.0.2.1",
// "_sips._tcp.pbx.test. SRV 10 0 5061 a.pbx.test." or "www.pbx.test. CNAME pbx.test.". If a name exists only with records of other types,
// the answer contains no records. All other names do not exist (NXDOMAIN).
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

// listen listens on the same port over UDP and TCP.
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

// Set replaces all records of the zone.
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

// Silence makes the server ignore every question about a name.
func (s *Server) Silence(name string) { s.set(name, answerKind{silent: true}) }

// Fail makes the server answer every question about a name with SERVFAIL.
func (s *Server) Fail(name string) { s.set(name, answerKind{rcode: dns.RcodeServerFailure}) }

// Delay makes the server delay every answer about a name.
func (s *Server) Delay(name string, by time.Duration) { s.set(name, answerKind{delay: by}) }

func (s *Server) set(name string, m answerKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moods[dns.CanonicalName(name)] = m
}

// Address returns the address of the server, for UDP and TCP, in the form "127.0.0.1:port".
func (s *Server) Address() string { return s.address }

// Resolver returns a resolver that asks only this server. Its queries end with the caller's context. A plain net.Resolver would continue to
// wait for an answer in the background.
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

// Asked returns the number of questions about a name with a record type such as "SRV", or with any type if kind is empty.
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

// ServeDNS handles a message with one question, in the way that the test has set for the name, and ignores all other messages.
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

// find returns the records that answer a question, preceded by the aliases that lead to them, and the response code.
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
