package portingstore_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting"
)

const org = callwright.OrgID("o")

// fillStart is the creation time of the first request that fillRequests stores. The others follow, two per second.
var fillStart = time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)

// filled returns the i-th request of fillRequests, with three numbers. One in ten is open and due, each at a different second.
func filled(i int) porting.Request {
	at := fillStart.Add(time.Duration(i/2) * time.Second)
	r := porting.Request{
		ID: fmt.Sprintf("01932c20-1c32-7a21-8b63-%012d", i), Org: org, State: porting.Completed, TargetDate: at.Truncate(24 * time.Hour),
		Documents: []string{"doc_0197f2a4c0007a1c8d2e5f3a1c9b7d20"}, Webhook: "https://hooks.example.com/ports", Gateway: "g",
		Ref: fmt.Sprint("order ", i), SignedAt: at, SignBy: at, CreatedAt: at, UpdatedAt: at, EndedAt: at, Entries: 5, Revision: 1,
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: "Acme Bakery", FirstName: "Robin", LastName: "Doe", AccountNumber: "88231",
			Email: "robin@example.com", NotifyEmails: []string{"ops@example.com"},
			Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
	}
	state := porting.NumberPorted
	switch {
	case i%10 == 0:
		r.State, r.DueAt, r.EndedAt, state = porting.States()[i/10%3], fillStart.Add(time.Duration(i*7919%1_000_000)*time.Second), time.Time{}, porting.NumberConfirmed
	case i%20 == 3:
		r.State, state = porting.Canceled, porting.NumberCanceled
	case i%20 == 7:
		r.State, state = porting.Failed, porting.NumberRejected
	}
	for n := range 3 {
		r.Numbers = append(r.Numbers, porting.Number{
			Number: callwright.PhoneNumber(fmt.Sprintf("+1415%07d", i*3+n)), State: state, HasPIN: true, FOC: at,
		})
	}
	return r
}

// fillRequests stores count requests of one organization, and collects statistics.
func fillRequests(t testing.TB, db *bunstore.DB, count int) portingstore.Requests {
	t.Helper()
	s, all := portingstore.Requests{DB: db}, make([]porting.Request, count)
	for i := range all {
		all[i] = filled(i)
	}
	if err := s.FillRequests(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	return s
}

// vacuum makes PostgreSQL record which rows are visible to all transactions, as autovacuum does after a while.
func vacuum(t testing.TB, s portingstore.Requests) {
	t.Helper()
	if s.DB.PostgresDSN() == "" {
		return
	}
	if _, err := s.DB.SQL().ExecContext(t.Context(), "VACUUM (PARALLEL 0) port_requests"); err != nil {
		t.Fatal(err)
	}
}

// reads matches query plans that sort, or that read rows that they do not return.
var reads = regexp.MustCompile(`Seq Scan|Sort|TEMP|SCAN (port_|request)|Filter: \(\(?[^$]|Bitmap`)

// TestRequestPagesUseIndexes checks the query plans of pages of requests on a full table: only the requests of the page are read, in the
// order of an index.
func TestRequestPagesUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		s := fillRequests(t, open(t), 6000)
		for _, test := range []struct {
			index  string
			states []porting.State
		}{
			{"port_requests_by_creation", nil},
			{"port_requests_by_state", []porting.State{porting.Completed}},
			{"port_requests_by_state", []porting.State{porting.Failed}},
			{"port_requests_by_state", []porting.State{porting.Submitted}},
		} {
			for _, place := range []callwright.Keyset{{}, {At: fillStart.Add(1500 * time.Second), ID: "m"}} {
				page, seen := readPage(t, s, porting.Filter{States: test.states, After: place, Limit: 20})
				plan := storetest.Explain(t, s.DB, seen, true)
				if len(page) != 20 || !strings.Contains(plan, test.index) || reads.MatchString(plan) {
					t.Errorf("%v %v: %d requests, not by the index alone: %s\n%s", test.states, place, len(page), seen, plan)
				}
			}
		}
	})
}

// readPage returns a page of requests, and the single statement that reads it.
func readPage(t *testing.T, s portingstore.Requests, f porting.Filter) (page []porting.Request, statement string) {
	t.Helper()
	seen := storetest.Statements(t, s.DB, func() (err error) {
		page, err = s.Requests(t.Context(), org, f)
		return err
	})
	if len(seen) != 1 {
		t.Fatalf("%d statements", len(seen))
	}
	return page, seen[0]
}

// TestPagesOfSeveralStatesReadAPageOfEach checks the query plans of lists of several states: they read the ids of one page per state from
// an index, and then the rows of one page.
func TestPagesOfSeveralStatesReadAPageOfEach(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		s := fillRequests(t, open(t), 6000)
		vacuum(t, s)
		f := porting.Filter{States: []porting.State{porting.Submitted, porting.Completed, porting.Failed}, Limit: 20}
		for _, f.After = range []callwright.Keyset{{}, {At: fillStart.Add(1500 * time.Second), ID: "m"}} {
			page, seen := readPage(t, s, f)
			plan := storetest.Explain(t, s.DB, seen, true)
			pages := regexp.MustCompile(`COVERING INDEX port_requests_by_state|Index Only Scan Backward using port_requests_by_state`)
			rows := regexp.MustCompile(`autoindex_port_requests_1 \(id=|port_requests_pkey`)
			if len(page) != 20 || len(pages.FindAllString(plan, -1)) != 3 || !rows.MatchString(plan) || whole.MatchString(plan) {
				t.Errorf("%v: %d requests: %s\n%s", f.After, len(page), seen, plan)
			}
		}
	})
}

// TestWaitingRequestsAreReadFromTheirIndex checks the query plan for waiting requests: it reads only these, in the order of an index.
func TestWaitingRequestsAreReadFromTheirIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		s := fillRequests(t, open(t), 6000)
		var waiting []porting.Request
		seen := storetest.Statements(t, s.DB, func() (err error) {
			waiting, err = s.WaitingRequests(t.Context(), org, 20)
			return err
		})
		plan := storetest.Explain(t, s.DB, seen[0], true)
		if len(seen) != 1 || len(waiting) != 20 || !strings.Contains(plan, "port_requests_waiting") || reads.MatchString(plan) {
			t.Errorf("%d requests, not by the index alone: %s\n%s", len(waiting), seen, plan)
		}
	})
}

// whole matches a query plan that scans a whole table.
var whole = regexp.MustCompile(`Seq Scan|SCAN (port_|request)`)

// TestDueRequestsAreReadFromTheirIndex checks the query plans of two frequent queries, for due requests and for the number of open
// requests.
func TestDueRequestsAreReadFromTheirIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		s := fillRequests(t, open(t), 6000)
		var due []porting.Name
		seen := storetest.Statements(t, s.DB, func() (err error) {
			due, err = s.DueRequests(t.Context(), fillStart.Add(1_000_000*time.Second), 100)
			return err
		})
		plan := storetest.Explain(t, s.DB, seen[0], true)
		byIndex := regexp.MustCompile(`COVERING INDEX port_requests_due|Index (Only )?Scan using port_requests_due`)
		if len(seen) != 1 || len(due) != 100 || !byIndex.MatchString(plan) || reads.MatchString(plan) {
			t.Errorf("%d are due, not by the index alone: %s\n%s", len(due), seen, plan)
		}
		seen = storetest.Statements(t, s.DB, func() error {
			count, err := s.CountOpen(t.Context(), org)
			if count != 600 {
				t.Errorf("%d are open", count)
			}
			return err
		})
		if plan := storetest.Explain(t, s.DB, seen[0], true); !strings.Contains(plan, "port_requests_by_state") || whole.MatchString(plan) {
			t.Errorf("not by the index: %s\n%s", seen[0], plan)
		}
	})
}

// TestRequestsUseIndexes runs every query of Requests and fails if a query scans a whole table.
func TestRequestsUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, func(ctx context.Context, db *bunstore.DB, now time.Time) []error {
		s, r := portingstore.Requests{DB: db}, filled(0)
		errs := []error{s.InsertRequest(ctx, r, entry(1)), s.InsertRequest(ctx, filled(0)), s.UpdateRequest(ctx, sent(r), entry(2))}
		add := func(_ any, err error) { errs = append(errs, err) }
		add(s.Request(ctx, org, r.ID))
		add(s.RequestByRef(ctx, "g", "order of "+r.ID))
		add(s.History(ctx, org, r.ID))
		add(s.CountOpen(ctx, org))
		add(s.ActiveNumbers(ctx, []callwright.PhoneNumber{r.Numbers[0].Number, "+1"}))
		add(s.OpenRequest(ctx, r.Numbers[0].Number))
		add(s.Reserved(ctx, []callwright.PhoneNumber{r.Numbers[0].Number, "+1"}))
		errs = append(errs, s.Reserve(ctx, porting.Reservation{Number: "+1", Org: org, Request: r.ID, Since: now}), s.Unreserve(ctx, org, "+1"))
		add(s.DueRequests(ctx, now, 10))
		add(s.WaitingRequests(ctx, org, 10))
		for _, states := range [][]porting.State{nil, {porting.Failed}} {
			for _, place := range []callwright.Keyset{{}, {At: now, ID: "x"}} {
				add(s.Requests(ctx, org, porting.Filter{States: states, After: place, Limit: 10}))
			}
		}
		return append(errs, s.UpdateRequest(ctx, r), s.UpdateRequest(ctx, ended(r), entry(3)))
	})
}
