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

// liveHeap collects garbage and returns the size of the heap in bytes.
func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// random is an endless reader of pseudorandom bytes, determined by its state.
type random struct{ state uint64 }

// Read fills p and never fails.
func (r *random) Read(p []byte) (int, error) {
	for i := range p {
		r.state = r.state*6364136223846793005 + 1442695040888963407
		p[i] = byte(r.state >> 56)
	}
	return len(p), nil
}

// BenchmarkUpload uploads different documents of the maximum size, and reports the maximum growth of the heap without garbage. It measures
// after every 16th statement, when a chunk and the statement that stores it are in memory.
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
			bytes, before, peak, statements := &random{state: 1}, liveHeap(), uint64(0), 0
			db.Core().Watch(func(string) {
				if statements++; statements%16 == 0 {
					peak = max(peak, liveHeap())
				}
			})
			b.SetBytes(document.MaxSize)
			b.ReportAllocs()
			for b.Loop() {
				r := io.LimitReader(io.MultiReader(strings.NewReader("%PDF-1.7\n"), bytes), document.MaxSize)
				if _, err := service.Upload(b.Context(), "a", r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(int64(peak)-int64(before)), "live-heap-B")
		})
	}
}
