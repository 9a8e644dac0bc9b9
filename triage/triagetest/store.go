package triagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// RunStore is the conformance suite of triage.Store. It runs the suites of all parts of the interface and RunDeletion. newStore returns an
// empty store and its transactions. RunActivity tests triage.Service over the store.
func RunStore(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	RunIssues(t, newStore)
	RunFeed(t, newStore)
	RunComments(t, newStore)
	RunResources(t, newStore)
	RunFlags(t, newStore)
	RunRelations(t, newStore)
	RunSessions(t, newStore)
	RunReports(t, newStore)
	RunViews(t, newStore)
	RunDeletion(t, newStore)
}

// subject is the store under test and its transactions.
type subject struct {
	triage.Store
	atomic callwright.Atomic
}

// run runs the tests of one part of the store. Each test has a new store with the issues i1 and i2 of organization a, and j1 of
// organization b.
func run(
	t *testing.T, part string, newStore func(t *testing.T) (triage.Store, callwright.Atomic),
	tests map[string]func(*testing.T, subject),
) {
	t.Helper()
	for name, test := range tests {
		t.Run(part+": "+name, func(t *testing.T) {
			t.Parallel()
			store, atomic := newStore(t)
			s := subject{store, atomic}
			foreign := anIssue("j1", 1)
			foreign.Org = "b"
			s.insertIssues(t, anIssue("i1", 1), anIssue("i2", 2), foreign)
			test(t, s)
		})
	}
}

// at is the base time of the suites. Its precision is a microsecond, like that of databases.
var at = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// later returns the time that is the given number of seconds after at.
func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

// words is a text with characters that a faulty store corrupts.
const words = "Gr\u00fc\u00dfe \U0001F600 \u2028 100 % of _\\'\"`{}[]$1 ?\n\t<b>"

// metadata returns a map with values of every JSON type.
func metadata() map[string]any {
	return map[string]any{
		"text": words, words: "name", "empty": "", "null": nil, "yes": true, "no": false, "zero": 0.0,
		"number": 1.5, "negative": -12345678901.25, "large": 1e21, "small": 1e-7, "count": 1234567890123.0,
		"list": []any{"x", 1.0, nil, true, []any{}, map[string]any{}},
		"deep": map[string]any{"k": map[string]any{"k": []any{map[string]any{"\u96ea": "\u2603"}}}},
	}
}

func fullActor(id string) triage.Actor {
	return triage.Actor{Kind: triage.ActorUser, ID: id, Label: words, AvatarURL: "https://example.com/" + id}
}

// anIssue returns an issue with only the required fields.
func anIssue(id string, number int) triage.Issue {
	return triage.Issue{
		ID: id, Org: "a", Number: number, Title: "Issue " + id, Status: triage.StatusBacklog,
		Severity: triage.SeverityMedium, Source: triage.SourceManual, Author: triage.System(),
		CreatedAt: at, UpdatedAt: at, LastActivityAt: at, Version: 1, Revision: 1,
	}
}

func (s subject) insertIssues(t *testing.T, all ...triage.Issue) {
	t.Helper()
	for _, i := range all {
		if err := s.InsertIssue(t.Context(), i); err != nil {
			t.Fatalf("insert %s: %v", i.ID, err)
		}
	}
}

// changeIssue reads an issue of organization a, passes it to the function do, and stores the changed issue.
func (s subject) changeIssue(t *testing.T, id string, do func(i *triage.Issue)) {
	t.Helper()
	i, err := s.Issue(t.Context(), "a", id)
	if err != nil {
		t.Fatal(err)
	}
	do(&i)
	if err := s.UpdateIssue(t.Context(), i); err != nil {
		t.Fatal(err)
	}
}

var errChanged = errors.New("changed my mind")

// rollBack runs the function do in a transaction that then returns an error to undo it. It fails the test if do returns an error.
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

// wantErr checks that every attempt failed with the error want.
func wantErr(t *testing.T, want error, attempts map[string]error) {
	t.Helper()
	for name, err := range attempts {
		if !errors.Is(err, want) {
			t.Errorf("%s gave %v, want %v", name, err, want)
		}
	}
}

// wantSame checks that err is nil and two values have the same JSON form. It ignores the order of object members, because databases reorder
// them.
func wantSame[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(loose(t, got), loose(t, want)) {
		t.Errorf("got  %.4000s, %v\nwant %.4000s", fmt.Sprintf("%+v", got), err, fmt.Sprintf("%+v", want))
	}
}

// loose returns a value after a round trip through JSON, as maps, slices and scalars.
func loose(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%+v is not JSON: %v", v, err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// wantIDs checks that err is nil and a list contains the wanted ids in order.
func wantIDs[T any](t *testing.T, got []T, err error, id func(T) string, want ...string) {
	t.Helper()
	ids := make([]string, 0, len(got))
	for _, v := range got {
		ids = append(ids, id(v))
	}
	if err != nil || fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; want %v", ids, err, want)
	}
}
