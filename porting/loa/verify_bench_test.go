package loa_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/porting/loa"
)

// BenchmarkVerify measures the verification of a trail with 20 events, without the PDFs.
func BenchmarkVerify(b *testing.B) {
	e := evidence()
	l := loa.Letter{Events: len(e.Events), Head: e.Head}
	for len(e.Events) < 20 {
		at := e.Events[0].At.Add(time.Duration(len(e.Events)) * time.Hour)
		e.Events = append(e.Events, l.Record(loa.Event{At: at, Kind: loa.EventResent, Email: "robin@example.com", SHA256: e.SHA256})...)
	}
	e.Head = l.Head
	b.ReportAllocs()
	for b.Loop() {
		if err := loa.Verify(e, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
