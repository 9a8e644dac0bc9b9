package portingstore_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/porting/document"
)

// gauge is a reader that measures the heap while it is read, all that is not garbage: it collects that first, once in a megabyte.
type gauge struct {
	io.Reader

	until int
	peak  uint64
}

// Read reads and measures.
func (g *gauge) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if g.until -= n; g.until <= 0 {
		g.until = 1 << 20
		g.peak = max(g.peak, liveHeap())
	}
	return n, err
}

func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// random gives bytes that differ from those of all other readers.
type random struct{ state uint64 }

// Read gives the next bytes.
func (r *random) Read(p []byte) (int, error) {
	for i := range p {
		r.state = r.state*6364136223846793005 + 1442695040888963407
		p[i] = byte(r.state >> 56)
	}
	return len(p), nil
}

// BenchmarkUpload uploads documents of the maximum size, each with bytes of its own, and reports how much the live heap grew at most.
func BenchmarkUpload(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, storetest.Databases[name](b))
			service, err := document.New(document.Config{
				Store: portingstore.Documents{DB: db}, Blobs: portingstore.Blobs{DB: db}, Work: memstore.NewWork(memstore.New(), nil),
				MaxUnused: 1_000_000,
			})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(document.MaxSize)
			b.ReportAllocs()
			bytes, before, peak := &random{state: 1}, liveHeap(), uint64(0)
			for b.Loop() {
				g := &gauge{Reader: io.LimitReader(io.MultiReader(strings.NewReader("%PDF-1.7\n"), bytes), document.MaxSize)}
				if _, err := service.Upload(b.Context(), "a", g); err != nil {
					b.Fatal(err)
				}
				peak = max(peak, g.peak)
			}
			b.ReportMetric(float64(int64(peak)-int64(before)), "heap-B")
		})
	}
}
