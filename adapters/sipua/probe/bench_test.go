package probe_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/uri"
)

// BenchmarkOptions measures a health probe over the connection of the previous probe. The processor time includes the server, which runs in
// the same process.
func BenchmarkOptions(b *testing.B) { benchmark(b, true) }

// BenchmarkOptionsNewConnection measures a probe over a new connection that resumes the TLS session of an earlier one.
func BenchmarkOptionsNewConnection(b *testing.B) { benchmark(b, false) }

func benchmark(b *testing.B, reuse bool) {
	b.Helper()
	cert, _ := issue(b, "127.0.0.1")
	peer := respond(b, uri.TLS, &cert, answers("200 OK", "Server: bench\r\nAllow: INVITE, ACK, BYE\r\n", ""))
	p := newProber(b, nil, nil)
	server := serverAt("127.0.0.1", peer)
	if !reuse {
		p.SetMaxIdle(0)
	}
	b.ReportAllocs()
	before := spent(b)
	for b.Loop() {
		if e := p.Options(b.Context(), server, ""); !e.Alive {
			b.Fatalf("%+v", e)
		}
	}
	each := (spent(b) - before) / time.Duration(b.N)
	b.ReportMetric(float64(each.Nanoseconds()), "cpu-ns/op")
	b.ReportMetric(100*10_000*each.Seconds()/60, "%core@10k/min")
}

// spent returns the processor time of this process. On a busy machine it is more accurate than elapsed time.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
