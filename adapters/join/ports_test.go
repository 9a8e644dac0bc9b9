package join_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/join"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/triage"
)

// portDesk stores port requests, and reports the failed ones as issues.
type portDesk struct {
	t      *testing.T
	store  portingstore.Requests
	issues *triage.Service
	failed join.FailedPorts
}

func newPortDesk(t *testing.T) *portDesk {
	t.Helper()
	memory := memstore.New()
	d := &portDesk{t: t, store: portingstore.Requests{Store: memory}}
	d.issues = must(triage.New(triage.Config{
		Store: triagestore.Store{Store: memory}, Atomic: memory, Work: memstore.NewWork(memory, nil),
		Resolvers: map[triage.ResourceType]triage.ResourceResolver{triage.ResourcePort: join.Ports{Store: d.store}},
	}))
	t.Cleanup(d.issues.Close)
	d.failed.Issues = d.issues
	return d
}

// seed stores a failed request with one rejected number for each code. All private fields contain marker.
func (d *portDesk) seed(id string, codes ...porting.FailureCode) porting.Request {
	d.t.Helper()
	r := porting.Request{
		ID: id, Org: org, State: porting.Failed, CreatedAt: began, EndedAt: began.Add(time.Hour), TargetDate: began, Entries: 1,
		Revision: 1, Webhook: "https://hooks.example/" + marker, Failure: &porting.Failure{Code: codes[0], Raw: marker},
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: marker, FirstName: marker, LastName: marker, AccountNumber: marker,
			Email: marker + "@example.com", NotifyEmails: []string{marker + "@example.org"},
			Address: porting.Address{Street: marker, City: marker, State: marker, Zip: marker, Country: marker},
		},
	}
	for i, code := range codes {
		r.Numbers = append(r.Numbers, porting.Number{
			Number: callwright.PhoneNumber(fmt.Sprintf("+1415555010%d", i)), State: porting.NumberRejected, PIN: marker, HasPIN: true,
			Failure: &porting.Failure{Code: code, Raw: marker},
		})
	}
	e := porting.Entry{Number: 1, At: began, To: porting.Failed, Event: porting.Rejected, Actor: porting.Carrier, Note: marker}
	if err := d.store.InsertRequest(d.t.Context(), r, e); err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *portDesk) tell(r porting.Request) {
	d.t.Helper()
	if err := d.failed.PortFailed(d.t.Context(), r); err != nil {
		d.t.Fatal(err)
	}
}

// all returns all issues with their descriptions, oldest first.
func (d *portDesk) all() (all []triage.Issue) {
	d.t.Helper()
	page := must(d.issues.List(d.t.Context(), org, triage.Query{Filter: triage.Filter{Sort: triage.SortCreated, Ascending: true}}))
	for _, one := range page.Items {
		all = append(all, must(d.issues.Get(d.t.Context(), org, one.ID)))
	}
	return all
}

// attached returns the ids of the port requests that are attached to an issue. It checks that each is available and has the status failed.
func (d *portDesk) attached(i triage.Issue) (ids []string) {
	d.t.Helper()
	for _, r := range must(d.issues.Resources(d.t.Context(), org, i.ID)) {
		if r.Type != triage.ResourcePort || r.Status != triage.Available || r.Metadata["status"] != "failed" {
			d.t.Errorf("attached %+v", r)
		}
		ids = append(ids, r.ResourceID)
	}
	return ids
}

// TestFailedPorts checks that each failure code has one issue, which has the requests attached and names the party that must act.
func TestFailedPorts(t *testing.T) {
	t.Parallel()
	d := newPortDesk(t)
	d.tell(d.seed("one", porting.AddressMismatch))
	d.tell(d.seed("two", porting.AddressMismatch, porting.NumberNotPortable, porting.AddressMismatch))
	d.tell(d.seed("three", porting.GatewayError))
	want := []struct {
		title, act string
		numbers    string
		severity   triage.Severity
		attached   []string
	}{
		{"Ports fail: address mismatch", "The organization that requested the port must act", "requests: +14155550100.\n", triage.SeverityMedium, []string{"one", "two"}},
		{"Ports fail: number not portable", "Nobody can act", "requests: +14155550101.\n", triage.SeverityLow, []string{"two"}},
		{"Ports fail: gateway error", "The operator of this service must act.", "requests: +14155550100.\n", triage.SeverityHigh, []string{"three"}},
	}
	issues := d.all()
	if len(issues) != len(want) {
		t.Fatalf("there are %d issues", len(issues))
	}
	for i, w := range want {
		got := issues[i]
		if got.Title != w.title || got.Severity != w.severity || got.Category != "porting" || !strings.Contains(got.Description, w.act) ||
			!strings.Contains(got.Description, w.numbers) {
			t.Errorf("the issue is %+v", got)
		}
		if ids := d.attached(got); !slices.Equal(ids, w.attached) {
			t.Errorf("%s: attached are %v, want %v", w.title, ids, w.attached)
		}
		if strings.Contains(got.Title+got.Description, marker) {
			t.Errorf("the issue tells %q", got.Description)
		}
	}
}

// TestEveryFailedPort checks that the issue of each failure code has a severity and a remedy.
func TestEveryFailedPort(t *testing.T) {
	t.Parallel()
	d := newPortDesk(t)
	for i, r := range porting.Remedies() {
		d.tell(d.seed(fmt.Sprint("r", i), r.Code))
	}
	issues := d.all()
	if len(issues) != len(porting.Remedies()) {
		t.Errorf("there are %d issues", len(issues))
	}
	for _, one := range issues {
		if one.Severity == "" || !strings.Contains(one.Description, "\n") || strings.Contains(one.Description, "\n\n") {
			t.Errorf("the issue is %+v", one)
		}
	}
}

// TestFailedPortAgain checks that a second report of a request changes nothing, even after its issue is done, and that another request then
// opens a new issue.
func TestFailedPortAgain(t *testing.T) {
	t.Parallel()
	d := newPortDesk(t)
	r := d.seed("one", porting.PINInvalid)
	d.tell(r)
	before := d.all()
	d.tell(r)
	if after := d.all(); len(after) != 1 || after[0].Revision != before[0].Revision {
		t.Fatalf("issues %+v, before %+v", after, before)
	}
	done := triage.StatusDone
	if _, err := d.issues.Update(t.Context(), org, triage.System(), before[0].ID, triage.Change{Status: &done}); err != nil {
		t.Fatal(err)
	}
	if d.tell(r); len(d.all()) != 1 {
		t.Error("a request whose issue is done makes another one")
	}
	d.tell(d.seed("two", porting.PINInvalid))
	if issues := d.all(); len(issues) != 2 || !slices.Equal(d.attached(issues[1]), []string{"two"}) {
		t.Errorf("issues %+v", issues)
	}
}

// TestEvidenceOfPort checks that the evidence contains the numbers with their failures and the history, and no account data.
func TestEvidenceOfPort(t *testing.T) {
	t.Parallel()
	d := newPortDesk(t)
	d.seed("one", porting.AddressMismatch, porting.PINInvalid)
	e := must(join.Ports{Store: d.store}.Read(t.Context(), org, "one"))
	text := fmt.Sprint(e.Facts)
	checkSecrets(t, e, text)
	for _, want := range []string{"failed", "+14155550101", "pin_invalid", "customer", "2026-03-02", "rejected"} {
		if !strings.Contains(text, want) {
			t.Errorf("the facts lack %s: %s", want, text)
		}
	}
	found := must(join.Ports{Store: d.store}.Find(t.Context(), org, []string{"one", "none"}))
	item := found["one"]
	if len(found) != 1 || item.Title != "Port of 2 numbers, 2 March 2026 09:15 UTC" || strings.Contains(fmt.Sprint(found), marker) ||
		fmt.Sprint(item.Metadata["phone_numbers"]) != "[+14155550100 +14155550101]" {
		t.Errorf("found %+v", found)
	}
	if _, err := (join.Ports{Store: d.store}).Read(t.Context(), "b", "one"); callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Errorf("another organization reads the request: %v", err)
	}
}
