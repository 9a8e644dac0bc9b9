package agentstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// BenchmarkCall measures the statements of a call's whole life: insertion, three changes of state, and one line of its transcript.
func BenchmarkCall(b *testing.B) {
	for name, address := range storetest.Databases {
		b.Run(name, func(b *testing.B) {
			db, ids := storetest.Open(b, address(b)), &callwright.UUIDs{}
			for b.Loop() {
				if err := liveCall(b.Context(), db, ids.New()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" at once", func(b *testing.B) {
			db, ids := storetest.Open(b, address(b)), &callwright.UUIDs{}
			b.SetParallelism(8)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if err := liveCall(b.Context(), db, ids.New()); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func liveCall(ctx context.Context, db *bunstore.DB, id string) error {
	calls, now := agentstore.Calls{DB: db}, callwright.SystemClock{}.Now()
	c := call.Call{
		ID: id, Org: "o", From: "+15550000001", To: "+15550000002", Queue: call.QueueQueued, CreatedAt: now, Version: 1,
		Agent: agents.Agent{Task: "Ask whether the parcel has arrived.", FirstSentence: "Hello!"},
	}
	if err := db.Do(ctx, func(ctx context.Context) error { return calls.Insert(ctx, c) }); err != nil {
		return err
	}
	for _, state := range []call.QueueStatus{call.QueueAllocated, call.QueueStarted, call.QueueComplete} {
		err := db.Do(ctx, func(ctx context.Context) error {
			stored, err := calls.Get(ctx, "o", id)
			if err != nil {
				return err
			}
			stored.Queue, stored.Node, stored.TakenAt = state, "n", now
			return calls.Update(ctx, stored)
		})
		if err != nil {
			return err
		}
	}
	return calls.Append(ctx, "o", id, call.Entry{Seq: 1, Text: "Hello!", CreatedAt: now})
}

// BenchmarkPage reads a page of 100 from the middle of an organization's 2,000 calls. The table contains the calls of ten organizations.
func BenchmarkPage(b *testing.B) {
	for name, address := range storetest.Databases {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, address(b))
			fill(b, db, 20000)
			f := call.Filter{Limit: 100, After: callwright.Keyset{At: time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC), ID: "c"}}
			for b.Loop() {
				page, total, err := agentstore.Calls{DB: db}.List(b.Context(), "o3", f)
				if err != nil || len(page.Items) != 100 || total != 2000 {
					b.Fatal(len(page.Items), total, err)
				}
			}
		})
	}
}

// fill stores calls of ten organizations and collects statistics, so that PostgreSQL chooses realistic query plans.
func fill(t testing.TB, db *bunstore.DB, count int) {
	t.Helper()
	fillOnly(t, db, count)
	analyze(t, db)
}

func analyze(t testing.TB, db *bunstore.DB) {
	t.Helper()
	if _, err := db.SQL().ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
}

// fillOnly stores calls of ten organizations without collecting statistics for the planner.
func fillOnly(t testing.TB, db *bunstore.DB, count int) {
	t.Helper()
	start := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	err := db.Do(t.Context(), func(ctx context.Context) error {
		for i := range count {
			err := agentstore.Calls{DB: db}.Insert(ctx, call.Call{
				ID: fmt.Sprintf("c%05d", i), Org: callwright.OrgID(fmt.Sprint("o", i%10)), Queue: call.QueueComplete,
				From: fmt.Sprintf("+1555000%04d", i%100), To: fmt.Sprintf("+1555001%04d", i%150),
				CreatedAt: start.Add(time.Duration(i) * time.Second),
				Agent:     agents.Agent{Pathway: agents.PathwayRef{ID: fmt.Sprint("p", i%150)}},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
