package sipstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
)

// BenchmarkRegistrations measures the queries of a node with 10,000 registrations: the claim of its 100 due registrations, and the lists of
// all its registrations and of all nodes.
func BenchmarkRegistrations(b *testing.B) {
	const count, due = 10000, 100
	for name, address := range storetest.Databases {
		db := storetest.Open(b, address(b))
		registrations, now := sipstore.Registrations{DB: db}, time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
		err := db.Do(b.Context(), func(ctx context.Context) error {
			for i := range count {
				r := sip.Registration{TrunkID: fmt.Sprint("t", i), Org: callwright.OrgID(fmt.Sprint("o", i%100)), State: sip.Registered, NextAt: now.Add(time.Hour)}
				if i < due {
					r.NextAt = now
				}
				if err := registrations.StoreRegistration(ctx, r); err != nil {
					return err
				}
			}
			_, err := registrations.ClaimRegistrations(ctx, "n", now, count)
			return err
		})
		if err == nil {
			_, err = db.SQL().ExecContext(b.Context(), "ANALYZE")
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/take", func(b *testing.B) {
			for b.Loop() {
				if got, err := registrations.ClaimRegistrations(b.Context(), "n", now, 200); err != nil || len(got) != due {
					b.Fatal(len(got), err)
				}
			}
		})
		b.Run(name+"/review", func(b *testing.B) {
			for b.Loop() {
				ids, err := registrations.RegistrationsOf(b.Context(), "n")
				nodes, nodesErr := registrations.RegistrationNodes(b.Context())
				if err != nil || nodesErr != nil || len(ids) != count || len(nodes) != 1 {
					b.Fatal(len(ids), nodes, err, nodesErr)
				}
			}
		})
	}
}
