package portingstore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/portingtest"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// wantGolden compares the JSON of sealed documents with a file. Their members have the names of the Go fields in the domain. A renamed
// member, or a changed type, requires a separate type for the JSON: otherwise rows of earlier releases could not be read. After adding a
// member, run the test with -update to update the file.
func wantGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != string(got)+"\n" {
		t.Errorf("what is sealed is not as in %s (%v):\n%s", path, err, got)
	}
}

func TestRequestDocumentKeepsItsNames(t *testing.T) {
	t.Parallel()
	got, err := portingstore.RequestDocument(portingtest.FullRequest("r1"))
	if err != nil {
		t.Fatal(err)
	}
	wantGolden(t, "request.json", got)
}

// sent returns the request in progress at the carrier. ended returns it after its failure.
func sent(r porting.Request) porting.Request {
	r.State, r.Ref = porting.InProgress, "order of "+r.ID
	return r
}

func ended(r porting.Request) porting.Request {
	r = sent(r)
	r.State, r.EndedAt, r.Revision = porting.Failed, fillStart, 2
	return r
}

func entry(number int) porting.Entry {
	return porting.Entry{Number: number, At: fillStart, To: porting.Failed, Event: porting.Rejected, Actor: porting.Carrier, Note: "n"}
}

// TestStatementsOfARequestAreCompiledOnce checks that SQLite compiles the statements of a request's life once, not again for each request.
func TestStatementsOfARequestAreCompiledOnce(t *testing.T) {
	t.Parallel()
	storetest.CompilesOnce(t, func(ctx context.Context, db *bunstore.DB, id string) error {
		s, r := portingstore.Requests{DB: db}, filled(0)
		r.ID, r.Ref = id, ""
		errs := []error{
			s.InsertRequest(ctx, r, entry(1)), s.UpdateRequest(ctx, sent(r), entry(2)), s.UpdateRequest(ctx, ended(r), entry(3)),
		}
		add := func(_ any, err error) { errs = append(errs, err) }
		add(s.Request(ctx, org, id))
		add(s.RequestByRef(ctx, "g", "order of "+id))
		add(s.History(ctx, org, id))
		add(s.CountOpen(ctx, org))
		add(s.DueRequests(ctx, fillStart, 10))
		add(s.Requests(ctx, org, porting.Filter{Limit: 10, After: callwright.Keyset{At: fillStart, ID: id}}))
		return errors.Join(errs...)
	})
}

// TestMovedRequestsDoNotOpen moves sealed values to another row, or empties them: reading them fails.
func TestMovedRequestsDoNotOpen(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		request := func(s portingstore.Requests) error { _, err := s.Request(t.Context(), org, filled(0).ID); return err }
		history := func(s portingstore.Requests) error { _, err := s.History(t.Context(), org, filled(0).ID); return err }
		for move, read := range map[string]func(portingstore.Requests) error{
			fmt.Sprintf("UPDATE port_requests SET document = (SELECT document FROM port_requests WHERE id = '%s')", filled(10).ID): request,
			"UPDATE port_requests SET document = ''":                                          request,
			"UPDATE port_history SET note = (SELECT note FROM port_history WHERE number = 2)": history,
			"UPDATE port_history SET number = 3 WHERE number = 2":                             history,
		} {
			s := portingstore.Requests{DB: open(t)}
			err := errors.Join(s.InsertRequest(t.Context(), filled(0), entry(1), entry(2)), s.InsertRequest(t.Context(), filled(10)), request(s), history(s))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.SQL().ExecContext(t.Context(), move); err != nil {
				t.Fatal(err)
			}
			if err := read(s); callwright.CodeOf(err) != callwright.CodeInternal {
				t.Errorf("%s: what was moved gave %v", move, err)
			}
		}
	})
}

// TestOpenNumbersAreThoseOfOpenRequests checks that the rows of claimed numbers are deleted at the end of their request, and not written by
// earlier updates.
func TestOpenNumbersAreThoseOfOpenRequests(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		s, r := portingstore.Requests{DB: open(t)}, filled(0)
		if err := errors.Join(s.InsertRequest(t.Context(), r), s.InsertRequest(t.Context(), filled(10))); err != nil {
			t.Fatal(err)
		}
		seen := storetest.Statements(t, s.DB, func() error { return s.UpdateRequest(t.Context(), sent(r)) })
		if len(seen) != 1 || strings.Contains(seen[0], "port_open_numbers") {
			t.Errorf("an update of an open request runs %v", seen)
		}
		rows := func() string { return storetest.Dump(t, s.DB, "port_open_numbers", "request_id") }
		if got := strings.Count(rows(), r.ID); got != len(r.Numbers) {
			t.Errorf("an open request of %d numbers has %d rows", len(r.Numbers), got)
		}
		if err := s.UpdateRequest(t.Context(), ended(r)); err != nil {
			t.Fatal(err)
		}
		if got := rows(); strings.Contains(got, r.ID) || strings.Count(got, filled(10).ID) != len(r.Numbers) {
			t.Errorf("after the end there are the rows %q", got)
		}
	})
}
