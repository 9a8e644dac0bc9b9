package portingstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting"
)

// onFilled runs a benchmark on 100,000 requests, of which 10,000 are open and due, on SQLite and on PostgreSQL.
func onFilled(b *testing.B, run func(b *testing.B, s portingstore.Requests)) {
	b.Helper()
	for _, name := range []string{"sqlite", "postgres"} {
		s := fillRequests(b, storetest.Open(b, storetest.Databases[name](b)), 100_000)
		vacuum(b, s)
		b.Run(name, func(b *testing.B) { run(b, s) })
	}
}

// BenchmarkRequestPage reads pages of 50 requests, from the beginning and from the middle of the list.
func BenchmarkRequestPage(b *testing.B) {
	onFilled(b, func(b *testing.B, s portingstore.Requests) {
		b.Helper()
		middle := callwright.Keyset{At: fillStart.Add(25_000 * time.Second), ID: "m"}
		for _, states := range [][]porting.State{nil, {porting.Completed}, {porting.Submitted, porting.InProgress, porting.Failed}} {
			for _, place := range []callwright.Keyset{{}, middle} {
				b.Run(fmt.Sprintf("states%d/first=%t", len(states), place.IsZero()), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						page, err := s.Requests(b.Context(), org, porting.Filter{States: states, After: place, Limit: 50})
						if err != nil || len(page) != 50 {
							b.Fatal(len(page), err)
						}
					}
				})
			}
		}
	})
}

// BenchmarkDueRequests reads the names of 1,000 of 10,000 due requests, and counts all open requests.
func BenchmarkDueRequests(b *testing.B) {
	onFilled(b, func(b *testing.B, s portingstore.Requests) {
		b.Helper()
		b.Run("due", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if due, err := s.DueRequests(b.Context(), fillStart.Add(1_000_000*time.Second), 1000); err != nil || len(due) != 1000 {
					b.Fatal(len(due), err)
				}
			}
		})
		b.Run("count", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if count, err := s.CountOpen(b.Context(), org); err != nil || count != 10_000 {
					b.Fatal(count, err)
				}
			}
		})
	})
}

// BenchmarkWriteRequest inserts requests, each with three numbers and one history entry, and updates a request.
func BenchmarkWriteRequest(b *testing.B) {
	onFilled(b, func(b *testing.B, s portingstore.Requests) {
		b.Helper()
		next := 100_000
		b.Run("insert", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := filled(next * 10)
				r.Numbers = filled(next).Numbers
				next++
				if err := s.InsertRequest(b.Context(), r, entry(1)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("update", func(b *testing.B) {
			b.ReportAllocs()
			r, err := s.Request(b.Context(), org, filled(50_000).ID)
			for b.Loop() {
				if err != nil {
					b.Fatal(err)
				}
				r.Misses++
				r.DueAt = r.DueAt.Add(time.Minute)
				err = s.UpdateRequest(b.Context(), r)
				r.Revision++
			}
		})
	})
}
