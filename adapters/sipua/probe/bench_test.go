package probe_test

import (
	"testing"

	"github.com/callwright/callwright/sip/uri"
)

// BenchmarkOptions is a health probe over the connection of the one before. It counts both ends, which share a process.
func BenchmarkOptions(b *testing.B) { benchmark(b, true) }

// BenchmarkOptionsNewConnection is a probe for which no connection was kept, with the TLS session of an earlier one.
func BenchmarkOptionsNewConnection(b *testing.B) { benchmark(b, false) }

func benchmark(b *testing.B, reuse bool) {
	cert, _ := issue(b, "127.0.0.1")
	peer := respond(b, uri.TLS, &cert, answers("200 OK", "Server: bench\r\nAllow: INVITE, ACK, BYE\r\n", ""))
	p := newProber(b, nil, nil)
	server := serverAt("127.0.0.1", peer)
	if !reuse {
		p.SetMaxIdle(0)
	}
	b.ReportAllocs()
	for b.Loop() {
		if e := p.Options(b.Context(), server, ""); !e.Alive {
			b.Fatalf("%+v", e)
		}
	}
}
