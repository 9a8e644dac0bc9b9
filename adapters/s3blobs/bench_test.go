package s3blobs_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// BenchmarkBlobs measures the time to store and to read 1 MiB.
func BenchmarkBlobs(b *testing.B) {
	blobs := open(b, nil)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	b.Run("put", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for i := 0; b.Loop(); i++ {
			if err := blobs.StoreBlob(b.Context(), "org", fmt.Sprint("n", i), bytes.NewReader(content), 1<<20); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			f, err := blobs.OpenBlob(b.Context(), "org", "n0")
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, f); n != 1<<20 || err != nil {
				b.Fatal(n, err)
			}
			_ = f.Close()
		}
	})
}
