package riverwork_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// BenchmarkEnqueue measures a transaction that stores a row and enqueues a task for it.
func BenchmarkEnqueue(b *testing.B) {
	for name, address := range databases {
		b.Run(name, func(b *testing.B) {
			db, work := open(b, address(b), nil)
			tenants, ids := orgstore.Tenants{DB: db}, &callwright.UUIDs{}
			for b.Loop() {
				err := db.Do(b.Context(), func(ctx context.Context) error {
					org := callwright.OrgID(ids.New())
					if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: org}); err != nil {
						return err
					}
					return work.Enqueue(ctx, callwright.Task{Kind: "k", Key: string(org), Org: org, Unique: true})
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart measures the time from the start of the transaction that enqueues a task to the start of its handler, on an idle node.
func BenchmarkStart(b *testing.B) {
	for name, address := range databases {
		b.Run(name, func(b *testing.B) {
			db, work := open(b, address(b), nil)
			ran := make(chan struct{}, 1)
			work.Handle(callwright.QueueUpkeep, "k", func(context.Context, callwright.Task, int) error {
				ran <- struct{}{}
				return nil
			})
			start(b, work)
			for b.Loop() {
				err := db.Do(b.Context(), func(ctx context.Context) error {
					return work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "1", Org: "o"})
				})
				if err != nil {
					b.Fatal(err)
				}
				<-ran
			}
		})
	}
}

// BenchmarkThroughput measures the time per task of a node that enqueues and runs many tasks.
func BenchmarkThroughput(b *testing.B) {
	for name, address := range databases {
		b.Run(name, func(b *testing.B) {
			db, work := open(b, address(b), nil)
			ran := make(chan struct{}, 100000)
			work.Handle(callwright.QueueUpkeep, "k", func(context.Context, callwright.Task, int) error {
				ran <- struct{}{}
				return nil
			})
			start(b, work)
			count := 0
			for b.Loop() {
				count++
				err := db.Do(b.Context(), func(ctx context.Context) error {
					return work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "1", Org: "o"})
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			for range count {
				<-ran
			}
		})
	}
}
