package sipstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
)

// attempt writes the record of one call attempt: its beginning, its answer, and its end with a ladder.
func attempt(ctx context.Context, db *bunstore.DB, id string) error {
	log, at := sipstore.CallLog{DB: db}, logStart.Add(time.Duration(len(id))*time.Second)
	if err := log.Begin(ctx, calllog.Record{ID: id, Org: "o", TrunkID: "t", Number: "+15550001000", Node: "n", StartedAt: at}); err != nil {
		return err
	}
	if err := log.Answer(ctx, "o", id, at); err != nil {
		return err
	}
	end := calllog.End{AnsweredAt: &at, EndedAt: &at, SIPCode: 200 + len(id), Status: "200 OK", Cause: "hangup"}
	return log.Finish(ctx, "o", id, end, []ladder.Event{{At: at, Method: "INVITE"}, {At: at, Status: 200, Detail: id}})
}

func TestStatementsOfAnAttemptAreCompiledOnce(t *testing.T) {
	t.Parallel()
	storetest.CompilesOnce(t, attempt)
}

// BenchmarkAttempt measures the statements of one call attempt: see attempt.
func BenchmarkAttempt(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			db, ids := storetest.Open(b, storetest.Databases[name](b)), &callwright.UUIDs{}
			for b.Loop() {
				if err := attempt(b.Context(), db, ids.New()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
