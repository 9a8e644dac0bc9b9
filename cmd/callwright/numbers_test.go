package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/monitor"
)

// trunks returns a trunk service that uses the deployment's database and respects the numbers that port requests reserve.
func (d *deployment) trunks(t *testing.T) *sip.Service {
	t.Helper()
	statuses, trunks := sipstore.Statuses{DB: d.db}, sipstore.Trunks{DB: d.db}
	numbers, err := agents.New(agents.Config{Numbers: agentstore.Numbers{DB: d.db}, WebAgents: agentstore.WebAgents{DB: d.db}, Atomic: d.db})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := monitor.New(monitor.Config{
		Statuses: statuses, Trunks: trunks, Attempts: sipstore.CallLog{DB: d.db}, Atomic: d.db, Work: d, Prober: struct{ monitor.Prober }{},
		Organizations: orgstore.Tenants{DB: d.db},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sip.New(sip.Config{
		Store: trunks, Atomic: d.db, Numbers: numbers, Statuses: statuses, Registrations: sipstore.Registrations{DB: d.db}, Monitor: watch,
		Codecs: []string{"PCMU"}, DerivationKey: callwright.Secret(strings.Repeat("k", 32)), Reservations: porting.Reserved{Reservations: portingstore.Requests{DB: d.db}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tryAttach attaches a number to an inbound trunk, and returns the error of the request or of the number.
func tryAttach(t *testing.T, trunks *sip.Service, org callwright.OrgID, number string) error {
	t.Helper()
	done, err := trunks.Attach(t.Context(), org, sip.Attachment{Numbers: []string{number}, Directions: []sip.DirectionInput{{Type: sip.Inbound}}})
	for _, failed := range done.Failed {
		err = failed.Err
	}
	return err
}

func (d *deployment) attach(t *testing.T, org callwright.OrgID, number string) {
	t.Helper()
	if err := tryAttach(t, d.trunks(t), org, number); err != nil {
		t.Fatal(err)
	}
}

// numberHolder is an organization that holds a number, or held it before the release, as JSON.
type numberHolder struct {
	Org        string          `json:"organization_id"`
	Directions []sip.Direction `json:"directions"`
	AttachedAt *time.Time      `json:"attached_at"`
	ReservedAt *time.Time      `json:"reserved_at"`
	Request    string          `json:"port_request_id"`
	Open       string          `json:"open_port_request_id"`
}

// numbersJSON is the JSON output of the commands for numbers.
type numbersJSON struct {
	Number   string         `json:"number"`
	Holders  []numberHolder `json:"holders"`
	Released []numberHolder `json:"released"`
}

func (d *deployment) numbers(args ...string) (got numbersJSON) {
	d.t.Helper()
	out, _ := d.callwright(0, append([]string{"admin", "numbers", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		d.t.Fatalf("%s: %v", out, err)
	}
	return got
}

// TestNumbers checks that the operator can find and release a ported number, which another organization then attaches, on both databases.
func TestNumbers(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		walkNumbers(t, deploy(t), nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := pgtest.DSN(t)
		walkNumbers(t, deployOn(t, t.TempDir(), dsn), []string{"--database-url", dsn})
	})
}

func walkNumbers(t *testing.T, d *deployment, on []string) {
	t.Helper()
	const other = callwright.OrgID("org2")
	_, errs := d.callwright(1, append([]string{"admin", "numbers", "find", first}, on...)...)
	wantText(t, errs, "no organization has "+first)
	r := d.signed()
	if got := d.numbers(append([]string{"find", first}, on...)...); len(got.Holders) != 1 || got.Holders[0].Open != r.ID || got.Holders[0].ReservedAt != nil {
		t.Errorf("while it is ported: %+v", got)
	}
	_, errs = d.callwright(1, append([]string{"admin", "numbers", "release", first, "--note", "moves", "--yes"}, on...)...)
	wantText(t, errs, "neither attached nor reserved; callwright ports withdraw ends")
	d.callwright(0, append([]string{"ports", "port", r.Ref}, on...)...)
	if r = d.minute(r.ID); r.State != porting.Completed {
		t.Fatalf("got %+v", r)
	}
	d.attach(t, org, first)
	got := d.numbers(append([]string{"find", first}, on...)...)
	if len(got.Holders) != 1 || got.Number != first {
		t.Fatalf("got %+v", got)
	}
	if h := got.Holders[0]; h.Org != string(org) || h.Request != r.ID || h.ReservedAt == nil || h.AttachedAt == nil || !slices.Equal(h.Directions, []sip.Direction{sip.Inbound}) || h.Open != "" {
		t.Errorf("got %+v", h)
	}
	for _, number := range []string{first, second} { // the first is attached and reserved, the second only reserved
		if err := tryAttach(t, d.trunks(t), other, number); callwright.CodeOf(err) != callwright.CodeConflict {
			t.Errorf("another organization attaches %s: %v", number, err)
		}
	}

	release := append([]string{"admin", "numbers", "release", first, "--note", "moves to org2"}, on...)
	_, errs = d.callwright(2, release...)
	wantText(t, errs, "confirm with --yes")
	_, errs = d.callwright(1, append(release, "--yes", "--org", string(other))...)
	wantText(t, errs, first+" is neither attached nor reserved by the organization org2")
	_, errs = d.callwright(2, append([]string{"admin", "numbers", "release", first, "--yes"}, on...)...)
	wantText(t, errs, "note")
	if err := tryAttach(t, d.trunks(t), other, first); err == nil {
		t.Error("what was refused has released the number")
	}
	out, _ := d.callwright(0, append(release, "--yes")...)
	wantText(t, out, string(org), "inbound, since ", r.ID)
	_, errs = d.callwright(1, append(release, "--yes")...)
	wantText(t, errs, "neither attached nor reserved")
	if trunk, err := d.trunks(t).Get(t.Context(), org, first); err != nil || trunk.Inbound != nil {
		t.Errorf("still attached: %+v, %v", trunk, err)
	}
	if r = d.minute(r.ID); r.Numbers[0].Inbound != porting.Released || r.Numbers[1].Inbound == porting.Released {
		t.Errorf("the port says %+v", r.Numbers)
	}
	d.attach(t, other, first)
	if got := d.numbers(append([]string{"find", first}, on...)...); len(got.Holders) != 1 || got.Holders[0].Org != string(other) {
		t.Errorf("after the move: %+v", got)
	}
}

// TestAttachWhileAPortEnds has another organization attach numbers while their ports complete, on both databases. Whichever finishes first,
// the port's organization must have reserved each number. Either the attachment is refused, or the port requires an action of the operator,
// who assigns the number to the organization that ported it.
func TestAttachWhileAPortEnds(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		attachWhilePortsEnd(t, deploy(t), nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := pgtest.DSN(t)
		attachWhilePortsEnd(t, deployOn(t, t.TempDir(), dsn), []string{"--database-url", dsn})
	})
}

func attachWhilePortsEnd(t *testing.T, d *deployment, on []string) {
	t.Helper()
	const other = callwright.OrgID("org2")
	trunks := d.trunks(t)
	d.trunking = trunks
	d.serve()
	for round := range 8 {
		var numbers []string
		for i := range 4 {
			numbers = append(numbers, fmt.Sprintf("+1415555%02d%02d", round, i))
		}
		r := d.signed(numbers...)
		d.callwright(0, append([]string{"ports", "port", r.Ref}, on...)...)
		refused := map[string]error{}
		var running sync.WaitGroup
		running.Go(func() {
			for _, number := range numbers {
				refused[number] = tryAttach(t, trunks, other, number)
			}
		})
		d.minute(r.ID)
		running.Wait()
		r = d.look(r.ID)
		for _, n := range r.Numbers {
			err := refused[string(n.Number)]
			switch got := d.numbers(append([]string{"find", string(n.Number)}, on...)...); {
			case r.State != porting.Completed || got.Holders[len(got.Holders)-1].Request != r.ID || got.Holders[len(got.Holders)-1].Org != string(org):
				t.Fatalf("%s of a port that is %s: %+v", n.Number, r.State, got)
			case err != nil && (callwright.CodeOf(err) != callwright.CodeConflict || len(got.Holders) != 1 || n.Inbound != porting.WaitsForTrunk):
				t.Errorf("refused with %v: %+v, %+v", err, n, got)
			case err == nil && (len(got.Holders) != 2 || got.Holders[0].Org != string(other) || n.Inbound != porting.RegistrationTaken):
				t.Errorf("attached: %+v, %+v", n, got)
			case err == nil:
				d.callwright(0, append([]string{"admin", "numbers", "release", string(n.Number), "--org", string(other), "--note", "ported", "--yes"}, on...)...)
			}
			if err := tryAttach(t, trunks, org, string(n.Number)); err != nil {
				t.Errorf("its organization attaches %s: %v", n.Number, err)
			}
		}
	}
}

// draftsOf returns drafts for the given numbers, or for first and second if there are none.
func draftsOf(numbers []string) (drafts []porting.NumberDraft) {
	if len(numbers) == 0 {
		numbers = []string{first, second}
	}
	for _, number := range numbers {
		drafts = append(drafts, porting.NumberDraft{Number: number})
	}
	return drafts
}

// look runs the step task for a request that has ended, as the server does while a number waits for a trunk.
func (d *deployment) look(id string) porting.Request {
	d.t.Helper()
	if err := d.handlers["porting.step"](d.t.Context(), callwright.Task{Org: org, Key: id}, 1); err != nil {
		d.t.Fatal(err)
	}
	return d.minute(id)
}

// TestNumbersAsk checks that invalid arguments of the commands "find" and "release" are usage errors.
func TestNumbersAsk(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	for _, args := range [][]string{{"find", "415"}, {"find"}, {"release", "415", "--note", "x", "--yes"}, {"find", first, second}} {
		d.callwright(2, append([]string{"admin", "numbers"}, args...)...)
	}
}
