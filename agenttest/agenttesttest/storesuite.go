package agenttesttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/callwrighttest"
)

// RunStore tests an agenttest.Store with the suites of all its parts. newStore returns an empty store and its transactions. atRest reads
// the stored data of the store; nil means a store in memory.
func RunStore(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[agenttest.Store]) {
	t.Helper()
	RunScenarios(t, newStore, atRest)
	RunRuns(t, newStore, atRest)
	RunJournals(t, newStore, atRest)
	RunBatches(t, newStore, atRest)
}

// NewStore returns an empty store and its transactions.
type NewStore func(t *testing.T) (agenttest.Store, callwright.Atomic)

// subject is the store under test, with its transactions.
type subject struct {
	agenttest.Store

	atomic callwright.Atomic
	atRest callwrighttest.AtRest[agenttest.Store]
}

// checkStore runs the tests of a part of the store, each on a new store.
func checkStore(
	t *testing.T, part string, newStore NewStore, atRest callwrighttest.AtRest[agenttest.Store],
	tests map[string]func(*testing.T, subject),
) {
	t.Helper()
	for name, test := range tests {
		t.Run(part+": "+name, func(t *testing.T) {
			t.Parallel()
			store, atomic := newStore(t)
			test(t, subject{store, atomic, atRest})
		})
	}
}

// at is the base time of the suites. Its precision is microseconds, like that of databases.
var at = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// later returns the base time plus the given number of seconds.
func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

// words is a text with characters that stores easily corrupt.
const words = "Gr\u00fc\u00dfe \U0001F600 \u2028 100 % of _\\'\"`{}[]$1 ?0\n\t<b>"

// do fails the test immediately if one of the errors is not nil.
func do(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// insert adds scenarios, runs, snapshots and groups.
func (s subject) insert(t *testing.T, things ...any) {
	t.Helper()
	for _, thing := range things {
		switch v := thing.(type) {
		case scenario.Scenario:
			do(t, s.InsertScenario(t.Context(), v))
		case run.Run:
			do(t, s.InsertRuns(t.Context(), []run.Run{v}))
		case run.Snapshot:
			do(t, s.InsertSnapshots(t.Context(), []run.Snapshot{v}))
		case group.Batch:
			do(t, s.InsertBatch(t.Context(), v))
		default:
			t.Fatalf("nobody stores a %T", thing)
		}
	}
}

// wantErr checks that each attempt failed with the error want. The keys of attempts describe the attempts.
func wantErr(t *testing.T, want error, attempts map[string]error) {
	t.Helper()
	for name, err := range attempts {
		if !errors.Is(err, want) {
			t.Errorf("%s gave %v, want %v", name, err, want)
		}
	}
}

// wantSame checks that two values are equal, regardless of the spelling of JSON in them.
func wantSame[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(loose(t, got), loose(t, want)) {
		t.Errorf("got  %.4000s, %v\nwant %.4000s", fmt.Sprintf("%+v", got), err, fmt.Sprintf("%+v", want))
	}
}

// loose encodes a value as JSON and decodes it again, so that the spelling of JSON in it does not matter.
func loose(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%+v is not JSON: %v", v, err)
	}
	do(t, json.Unmarshal(text, &out))
	return out
}

// wantIDs checks the ids of a list and their order.
func wantIDs[T any](t *testing.T, what string, got []T, err error, id func(T) string, want ...string) {
	t.Helper()
	ids := make([]string, 0, len(got))
	for _, v := range got {
		ids = append(ids, id(v))
	}
	if err != nil || fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, %v; want %v", what, ids, err, want)
	}
}

var errChanged = errors.New("changed my mind")

// rollBack calls the function do in a transaction that is then rolled back.
func (s subject) rollBack(t *testing.T, do func(ctx context.Context) error) {
	t.Helper()
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return errChanged
	})
	if !errors.Is(err, errChanged) {
		t.Fatalf("the transaction ended with %v", err)
	}
}
