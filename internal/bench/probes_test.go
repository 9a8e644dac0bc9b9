package bench_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/sipua/probe"
	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/monitor"
	"github.com/callwright/callwright/sip/resolve"
)

// responderFolder is the environment variable that turns this test binary into the probed servers. Its value is the folder with their
// certificates. The servers run in their own process, so that their processor time is not measured.
const responderFolder = "CALLWRIGHT_BENCH_RESPONDER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(responderFolder); folder != "" {
		fmt.Fprintln(os.Stderr, respond(folder))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// BenchmarkProbes probes 10,000 trunks in each iteration, as the monitor does in a minute, but without waiting. It sends OPTIONS over TLS
// with full verification of certificates, and uses SQLite and histories of the maximum length. cores is the processor time of the probing
// process, as a share of a core over a minute.
func BenchmarkProbes(b *testing.B) {
	const trunks = 10_000
	b.Run("one-server", func(b *testing.B) { probeAll(b, trunks, 1) })
	b.Run("a-server-each", func(b *testing.B) { probeAll(b, trunks, trunks) })
}

// probeAll measures the probes of trunks that are evenly distributed over servers.
func probeAll(b *testing.B, trunks, servers int) {
	b.Helper()
	ca, port := startResponder(b)
	clock := new(leaping)
	db := openDatabase(b)
	resolver, err := resolve.New(resolve.Config{DNS: loopbackDNS{}, Runtime: callwright.Runtime{Clock: clock}})
	if err != nil {
		b.Fatal(err)
	}
	prober, err := probe.New(probe.Config{Resolver: resolver, Roots: ca.Pool(), AllowPrivate: true, Runtime: callwright.Runtime{Clock: clock}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(prober.Close)
	statuses := &counted{Statuses: sipstore.Statuses{DB: db}, answered: make(chan bool, servers), recorded: make(chan bool, trunks)}
	err = db.Do(b.Context(), func(ctx context.Context) error {
		for i := range trunks {
			if err := statuses.StoreStatus(ctx, watched(i, failover.Server{Host: fmt.Sprintf("pbx%d.bench.test", i%servers), Port: port}, clock.Now())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	store := memstore.New()
	service, err := monitor.New(monitor.Config{
		Statuses: statuses, Trunks: sipstore.Trunks{DB: db}, Attempts: sipstore.CallLog{DB: db}, Atomic: db,
		Work: memstore.NewWork(store, nil), Prober: prober, Organizations: orgstore.Tenants{DB: db}, Runtime: callwright.Runtime{Clock: clock},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = service.Run(ctx) })
	b.Cleanup(running.Wait)
	b.Cleanup(cancel)

	statuses.await(b, servers, trunks) // warms up: later probes reuse connections and TLS sessions
	var busy time.Duration
	for b.Loop() {
		before := processorTime()
		clock.leap(67 * time.Second) // the longest interval between two probes, plus a second
		statuses.await(b, servers, trunks)
		busy += processorTime() - before
	}
	b.ReportMetric(busy.Seconds()/float64(b.N)/time.Minute.Seconds(), "cores")
	b.ReportMetric(float64(busy.Microseconds())/float64(b.N*trunks), "cpu-µs/probe")
}

// watched returns the status of trunk i with a history of the maximum length and a due probe.
func watched(i int, server failover.Server, now time.Time) sip.Status {
	s := sip.Status{
		TrunkID: fmt.Sprintf("trunk-%d", i), Org: "a", Number: callwright.PhoneNumber(fmt.Sprintf("+1555%07d", i)),
		Verify: sip.VerifyFull, Servers: []sip.ServerStatus{{Server: server, Health: health.Server{State: health.Unchecked}}},
		ProbeAt: now,
	}
	for day := range health.MaxDays {
		at := now.AddDate(0, 0, day-health.MaxDays+1)
		s.History = s.History.Lasted(health.Healthy, at).Lasted(health.Healthy, at.Add(time.Minute))
	}
	for range health.MaxSamples {
		s.Servers[0].Samples = health.Answered(s.Servers[0].Samples, 12345678*time.Nanosecond)
	}
	return s
}

// leaping is a clock that leap moves forward.
type leaping struct{ ahead atomic.Int64 }

func (c *leaping) Now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load())).UTC().Truncate(time.Microsecond)
}

func (c *leaping) leap(d time.Duration) { c.ahead.Add(int64(d)) }

// counted is a status store that reports its writes. For each server it sends on answered whether the server was stored as healthy, and for
// each recorded status it sends true on recorded.
type counted struct {
	sip.Statuses
	answered, recorded chan bool
}

func (c *counted) StoreServer(ctx context.Context, w sip.WatchedServer) error {
	err := c.Statuses.StoreServer(ctx, w)
	c.answered <- err == nil && w.Health.State == health.Healthy
	return err
}

func (c *counted) RecordStatus(ctx context.Context, s sip.Status) error {
	err := c.Statuses.RecordStatus(ctx, s)
	if err == nil {
		c.recorded <- true
	}
	return err
}

// await waits until all servers have answered and all trunks are recorded. It fails the benchmark if a server did not answer.
func (c *counted) await(b *testing.B, servers, trunks int) {
	b.Helper()
	limit := time.After(2 * time.Minute)
	for n, from := range map[int]chan bool{servers: c.answered, trunks + 1: c.recorded} {
		for i := range min(n, trunks) {
			select {
			case ok := <-from:
				if !ok {
					b.Fatal("a server did not answer")
				}
			case <-limit:
				b.Fatalf("%d of %d answered or were recorded", i, n)
			}
		}
	}
}

func openDatabase(b *testing.B) *bunstore.DB {
	b.Helper()
	keyring, err := callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)})
	if err != nil {
		b.Fatal(err)
	}
	db, err := bunstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "bench.db"), bunstore.Config{Keyring: keyring})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// loopbackDNS resolves every name to the loopback address.
type loopbackDNS struct{}

func (loopbackDNS) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, errors.New("there are no services")
}

func (loopbackDNS) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// startResponder starts the responder process. It returns the certificate authority of the probed servers, and the port that they share.
// The servers differ by their names.
func startResponder(b *testing.B) (*testca.Authority, uint16) {
	b.Helper()
	ca, err := testca.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	child := exec.CommandContext(b.Context(), os.Args[0])
	child.Env = append(os.Environ(), responderFolder+"="+filepath.Dir(ca.CertFile()))
	child.Stderr = os.Stderr
	input, inputErr := child.StdinPipe()
	output, outputErr := child.StdoutPipe()
	if err := errors.Join(inputErr, outputErr, child.Start()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		input.Close()
		_ = child.Wait()
	})
	var port uint16
	if _, err := fmt.Fscan(output, &port); err != nil {
		b.Fatal(err)
	}
	return ca, port
}

// respond answers every request with 200 on a port that it prints. It exits when its standard input is closed.
func respond(folder string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	ca, err := testca.Open(folder)
	if err != nil {
		return err
	}
	certificate, err := ca.Issue("*.bench.test")
	if err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	fmt.Println(port)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go answer(conn)
	}
}

func answer(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for {
		reply := "SIP/2.0 200 OK\r\n"
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
			switch name, _, _ := strings.Cut(line, ":"); name {
			case "To":
				line = strings.TrimSuffix(line, "\r\n") + ";tag=bench\r\n"
				fallthrough
			case "Via", "From", "Call-ID", "CSeq":
				reply += line
			}
		}
		if _, err := io.WriteString(conn, reply+"Server: bench\r\nAllow: INVITE, ACK, BYE, CANCEL, OPTIONS\r\nContent-Length: 0\r\n\r\n"); err != nil {
			return
		}
	}
}
