package e2e_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/kamailio"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// nodes returns the configuration of servers that share a database and its key.
func nodes(t *testing.T, ca *testca.Authority) server.Config {
	t.Helper()
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails, according to its documentation
	return server.Config{
		Roots: ca.CertFile(), Flags: []string{"--database-url", pgtest.DSN(t)},
		Env: []string{"CALLWRIGHT_SECRET_KEY=" + base64.StdEncoding.EncodeToString(secret)},
	}
}

// lost waits until the log shows that the server of a call has died, and checks the call's record and the number of records.
func lost(t *testing.T, s *server.Server, id string, records int) {
	t.Helper()
	var log []sipoas.SipCall
	var cut sipoas.SipCall
	await.That(t, "the call of the dead server to be closed", func() bool {
		log = s.CallLog(t, ours.String())
		i := slices.IndexFunc(log, func(c sipoas.SipCall) bool { return c.CallID == id })
		if i < 0 {
			t.Fatalf("the call %s is not in the log any more: %+v", id, log)
		}
		cut = log[i]
		return !cut.EndedAt.Null
	})
	if len(log) != records || !strings.Contains(cut.ErrorMessage.Value, "the process that ran the call has ended") || !cut.SipCode.Null ||
		cut.EndedAt.Value.Before(cut.StartedAt) || cut.EndedAt.Value.After(time.Now()) {
		t.Errorf("the call of the dead server is closed as %+v, one of %d records", cut, len(log))
	}
}

// running returns the only running call in the log, and the number of records.
func running(t *testing.T, s *server.Server) (call sipoas.SipCall, records int) {
	t.Helper()
	log := s.CallLog(t, ours.String())
	open := slices.DeleteFunc(slices.Clone(log), func(c sipoas.SipCall) bool { return !c.EndedAt.Null })
	if len(open) != 1 {
		t.Fatalf("%d calls are running: %+v", len(open), log)
	}
	return open[0], len(log)
}

// TestKilledDuringTrunkCall kills the server during a call over a trunk, and restarts it on the same data. The log must contain the call
// once, as lost.
func TestKilledDuringTrunkCall(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	first := start(t, ca.CertFile())
	first.AttachOutbound(t, ours.String(), phone.Server())
	first.Call(t, appointment())
	phone.Await(t, "CALL_ESTABLISHED", 1)
	cut, _ := running(t, first)
	first.Kill()
	second := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	lost(t, second, cut.CallID, 1)
	ended := second.CallLog(t, ours.String())[0].EndedAt
	second.Kill()
	third := server.Start(t, server.Config{Data: first.Data, Roots: ca.CertFile()})
	if log := third.CallLog(t, ours.String()); len(log) != 1 || log[0].EndedAt != ended {
		t.Errorf("after another start the log is %+v, and the call had ended at %v", log, ended.Value)
	}
}

// TestRegistrationMoves runs several servers on one PostgreSQL database, with a number that registers. When the server that holds the
// registration stops during a call, another server must claim the registration immediately, and the call must continue. When that server is
// killed during a call, another must claim the registration at the end of the lease, and close the call's record.
func TestRegistrationMoves(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	config := nodes(t, ca)
	config.Flags = append(config.Flags, "--drain-timeout", "10m") // longer than this test
	one, two := server.StartTwo(t, config)
	servers := []*server.Server{one, two}
	password := servers[0].AttachRegistered(t, ours.String(), "sip:127.0.0.1:9;transport=tls", "acme")
	registrar := kamailio.Start(t, kamailio.Config{CA: ca, Password: password, MaxExpires: 10})
	servers[0].Update(t, ours.String(), sipoas.SipDirectionInput{
		Type: sipoas.SipDirectionInbound, SipEndpoint: sipoas.NewOptString(registrar.URI()),
	})
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})

	// call places a call, and returns the server that holds the registration, which answers, and the other server.
	call := func(n int) (holder, other *server.Server) {
		phone.Dial(t, registrar.Number("acme"))
		phone.Await(t, "CALL_ESTABLISHED", n)
		if servers[0].Metric(t, "callwright_sip_calls") > 0 {
			return servers[0], servers[1]
		}
		return servers[1], servers[0]
	}
	await.That(t, "the number to be registered", func() bool { return registrar.Count("SAVED") > 0 })
	holder, other := call(1)
	holder.Terminate(t)
	await.That(t, "the server that stops to take its registration back, and the other one to register", func() bool {
		_, since, back := strings.Cut(registrar.Log(), "expires=0")
		return back && strings.Contains(since, "expires=3600")
	})
	if strings.Contains(other.Log(), "dead node") {
		t.Error("the server that stops did not give its registration up: the other one took it for dead")
	}
	if !holder.Running() || len(phone.Events("CALL_CLOSED")) > 0 {
		t.Error("the call over the registration was not left to run")
	}
	phone.Hangup(t)
	phone.Await(t, "CALL_CLOSED", 1)
	if code := holder.ExitCode(t); code != 0 {
		t.Errorf("the server stopped with exit code %d", code)
	}
	log := other.CallLog(t, ours.String())
	if len(log) != 1 || log[0].EndedAt.Null || log[0].SipCode.Value != http.StatusOK || !log[0].ErrorMessage.Null {
		t.Errorf("the call over the registration that was taken back is logged as %+v", log)
	}

	config.Key = one.Key
	servers = []*server.Server{other, server.Start(t, config)}
	if last, _ := call(2); last != other {
		t.Fatal("the call came to a server that had not registered")
	}
	cut, records := running(t, other)
	kept := registrar.Count("SAVED")
	other.Kill()
	survivor := servers[1]
	lost(t, survivor, cut.CallID, records)
	await.That(t, "the survivor to register", func() bool { return registrar.Count("SAVED") > kept && registered(t, survivor) })
	closed := len(phone.Events("CALL_CLOSED"))
	phone.Hangup(t)
	phone.Await(t, "CALL_CLOSED", closed+1)
	phone.Dial(t, registrar.Number("acme"))
	phone.Await(t, "CALL_ESTABLISHED", 3)
	if over, _ := running(t, survivor); over.CallID == cut.CallID {
		t.Error("the call that was cut runs again")
	}
}

func registered(t *testing.T, s *server.Server) bool {
	t.Helper()
	return s.Status(t, ours.String()).Registration.Value.Status == sipoas.SipRegistrationStatusRegistered
}

// TestTwoNodesShare starts two servers on one PostgreSQL database. Only one of them may probe a trunk, and the limits of an organization
// must apply to both together.
func TestTwoNodesShare(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	config := nodes(t, ca)
	one, two := server.StartTwo(t, config)
	probes(t, newSlowPeer(t, ca), one, two)
	looks(t, one, two)
	tests(t, one, two)
}

// probes attaches trunks with the same SIP server over both nodes. One node must probe the server. The other node must not, although it
// looks for due probes before the slow peer answers.
func probes(t *testing.T, peer *slowPeer, one, two *server.Server) {
	t.Helper()
	trunks := []string{ours.String(), "+14155550101", "+14155550102", "+14155550103"}
	for i, trunk := range trunks {
		[]*server.Server{one, two}[i%2].AttachOutbound(t, trunk, peer.uri)
	}
	for _, trunk := range trunks {
		one.StatusUntil(t, trunk, "to be healthy", func(st sipoas.SipStatus) bool { return st.Status == sipoas.SipHealthStatusHealthy })
	}
	// All trunks share the health of their server, whose next probe is almost a minute later.
	if asked := peer.asked.Load(); asked != 1 {
		t.Errorf("the server of %d trunks was probed %d times", len(trunks), asked)
	}
}

// slowPeer answers OPTIONS only after the nodes have looked for due probes again.
type slowPeer struct {
	uri   string
	asked atomic.Int32
}

const slowly = 2500 * time.Millisecond

func newSlowPeer(t *testing.T, ca *testca.Authority) *slowPeer {
	t.Helper()
	certificate, err := ca.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	p := new(slowPeer)
	address := listener(t, func(conn net.Conn) {
		p.serve(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}))
	})
	p.uri = "sip:" + address.String() + ";transport=tls"
	return p
}

// serve answers the requests on a connection until the connection is closed.
func (p *slowPeer) serve(conn net.Conn) {
	var answers sync.WaitGroup
	defer answers.Wait()
	var answer strings.Builder
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		name, _, _ := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "OPTIONS "):
			p.asked.Add(1)
			answer.Reset()
			answer.WriteString("SIP/2.0 200 OK\r\n")
		case slices.Contains([]string{"Via", "From", "To", "Call-ID", "CSeq"}, name):
			answer.WriteString(line + "\r\n")
		case line == "" && answer.Len() > 0:
			text := answer.String() + "Content-Length: 0\r\n\r\n"
			answer.Reset()
			answers.Add(1)
			time.AfterFunc(slowly, func() {
				defer answers.Done()
				_, _ = io.WriteString(conn, text) // after a failure nothing waits for the answer
			})
		}
	}
}

// looks starts a discovery of a host that never responds. A second discovery over the other server must be refused as a conflict.
func looks(t *testing.T, one, two *server.Server) {
	t.Helper()
	port := int(listener(t, func(net.Conn) {}).Port())
	request := &sipoas.SipDiscoveryStart{
		Host: "127.0.0.1", Port: sipoas.NewOptInt(port), Transport: sipoas.NewOptSipTransport(sipoas.SipTransportTLS),
	}
	if _, err := one.API.StartSipDiscovery(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	_, err := two.API.StartSipDiscovery(t.Context(), request)
	if refusal, ok := errors.AsType[*sipoas.ErrorStatusCodeWithHeaders](err); !ok || refusal.StatusCode != http.StatusConflict {
		t.Errorf("a second discovery over the other server gives %v", err)
	}
}

// listener accepts connections for serve until the test ends, and returns its address.
func listener(t *testing.T, serve func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var taken sync.WaitGroup
	taken.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			taken.Go(func() { serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		taken.Wait()
	})
	return netip.MustParseAddrPort(l.Addr().String())
}

// tests requests twelve test calls at the same time over both servers. Only ten may be placed.
func tests(t *testing.T, servers ...*server.Server) {
	t.Helper()
	const asked, allowed = 12, 10
	results := make([]error, asked)
	var asking sync.WaitGroup
	for i := range results {
		asking.Go(func() {
			request := &sipoas.SipTestCallStart{PhoneNumber: ours.String()}
			_, results[i] = servers[i%len(servers)].API.StartSipTestCall(t.Context(), request)
		})
	}
	asking.Wait()
	made := 0
	for _, err := range results {
		refusal, ok := errors.AsType[*sipoas.ErrorStatusCodeWithHeaders](err)
		switch {
		case err == nil:
			made++
		case !ok || refusal.StatusCode != http.StatusTooManyRequests || refusal.RetryAfter.Value < 1:
			t.Errorf("a test call too many gives %v", err)
		}
	}
	if made != allowed {
		t.Errorf("%d test calls were made", made)
	}
}
