package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/adapters/masterkey"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/transport/cli"
)

const (
	org           = callwright.OrgID("org1")
	first, second = "+14155550100", "+14155550101"
)

// deployment is a data folder with the services of its running server. The test runs the server's tasks.
type deployment struct {
	t        *testing.T
	data     string
	db       *bunstore.DB
	service  *porting.Service
	letters  *loa.Service
	bills    *document.Service
	handlers map[string]callwright.Handler
	periodic map[string]callwright.Handler
	tasks    []callwright.Task
	trunking porting.Trunks // nil if ported numbers need no trunk
}

// deploy creates a deployment with an SQLite database.
func deploy(t *testing.T) *deployment {
	t.Helper()
	data := t.TempDir()
	return deployOn(t, data, "sqlite:"+filepath.Join(data, "callwright.db"))
}

func deployOn(t *testing.T, data, address string) *deployment {
	t.Helper()
	d := &deployment{t: t, data: data, handlers: map[string]callwright.Handler{}, periodic: map[string]callwright.Handler{}}
	key := masterkey.New(d.data)
	if err := os.WriteFile(masterkey.File(d.data), []byte(key.Text().Reveal()), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := key.Keyring()
	if err != nil {
		t.Fatal(err)
	}
	d.db, err = bunstore.Open(t.Context(), address, bunstore.Config{Keyring: ring})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := riverwork.Migrate(t.Context(), riverwork.Config{SQL: d.db.SQL(), Tx: d.db.Tx, Atomic: d.db, PostgresDSN: d.db.PostgresDSN()}); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d
}

// serve creates the services of the server.
func (d *deployment) serve() {
	d.t.Helper()
	gateway, gatewayErr := manual.New(manual.Config{Store: portingstore.ManualOrders{DB: d.db}})
	bills, billsErr := document.New(document.Config{Store: portingstore.Documents{DB: d.db}, Blobs: portingstore.Blobs{DB: d.db}, Work: d})
	letters, lettersErr := loa.New(loa.Config{Provider: "Acme Telecom",
		Store: portingstore.Letters{DB: d.db}, Atomic: d.db, Work: d, Mailer: d, Renderer: d, Key: callwright.Secret(strings.Repeat("k", loa.MinKey)),
		URL: func(token string) string { return token },
	})
	service, err := porting.New(porting.Config{
		Store: portingstore.Requests{DB: d.db}, Atomic: d.db, Work: d, Gateway: gateway, Documents: bills, Letters: letters, Inbound: d,
		Trunks: d.trunking,
	})
	if err := errors.Join(gatewayErr, billsErr, lettersErr, err); err != nil {
		d.t.Fatal(err)
	}
	letters.Attach(service)
	d.service, d.letters, d.bills = service, letters, bills
}

// Enqueue stores a task until the test runs it with minute. With Handle and Every it implements callwright.Work.
func (d *deployment) Enqueue(_ context.Context, task callwright.Task) error {
	d.tasks = append(d.tasks, task)
	return task.Check()
}

func (d *deployment) Handle(_ callwright.Queue, kind string, h callwright.Handler) {
	d.handlers[kind] = h
}

func (d *deployment) Every(_ callwright.Queue, kind string, _ time.Duration, h callwright.Handler) {
	d.periodic[kind] = h
}

// The following methods implement the other ports of the services.

func (d *deployment) SendMail(context.Context, string, string, string, string) error { return nil }

func (d *deployment) RenderLetter(context.Context, loa.Text) ([]byte, error) {
	return []byte("%PDF letter"), nil
}

func (d *deployment) RenderSigned(context.Context, loa.Text, loa.Certificate) ([]byte, error) {
	return []byte("%PDF signed"), nil
}

func (d *deployment) RegisterInbound(context.Context, callwright.OrgID, callwright.PhoneNumber) error {
	return nil
}

// minute runs the server's periodic task and all enqueued tasks, as the server does within a minute, and returns the request with the given
// id.
func (d *deployment) minute(id string) porting.Request {
	d.t.Helper()
	if err := d.periodic["porting.look"](d.t.Context(), callwright.Task{}, 1); err != nil {
		d.t.Fatal(err)
	}
	for len(d.tasks) > 0 {
		task := d.tasks[0]
		d.tasks = d.tasks[1:]
		if err := d.handlers[task.Kind](d.t.Context(), task, 1); err != nil {
			d.t.Fatal(err)
		}
	}
	r, err := d.service.Get(d.t.Context(), org, id)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

const bill = "%PDF-1.7\n% a bill\n"

// initiated creates a request that waits for its signature, and returns it with the token of the link to its letter.
func (d *deployment) initiated(numbers ...string) (r porting.Request, token callwright.Secret) {
	d.t.Helper()
	doc, err := d.bills.Upload(d.t.Context(), org, strings.NewReader(bill))
	if err != nil {
		d.t.Fatal(err)
	}
	r, letter, err := d.service.Initiate(d.t.Context(), org, porting.Draft{
		Numbers: draftsOf(numbers), PIN: "4711", Documents: []string{doc.ID},
		Account: porting.Account{
			CustomerType: porting.Business, BusinessName: "Acme Bakery", FirstName: "Robin", LastName: "Doe", AccountNumber: "88231",
			Email:   "robin@example.com",
			Address: porting.Address{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return r, letter.URL
}

// signed creates and signs a request, submits it to the gateway and returns it.
func (d *deployment) signed(numbers ...string) porting.Request {
	d.t.Helper()
	r, token := d.initiated(numbers...)
	l, err := d.letters.Letter(d.t.Context(), org, r.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = d.letters.Sign(d.t.Context(), token, loa.Signature{Name: "Robin Doe", Consent: true, Authority: true, SHA256: l.SHA256})
	if err != nil {
		d.t.Fatal(err)
	}
	return d.minute(r.ID)
}

// callwright runs a command on the deployment, checks its exit code, and returns its output.
func (d *deployment) callwright(code int, args ...string) (stdout, stderr string) {
	d.t.Helper()
	return run(d.t, map[string]string{"CALLWRIGHT_DATA": d.data}, code, args...)
}

func run(t *testing.T, env map[string]string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	got := cli.Run(t.Context(), cli.Config{Ports: openPorts, Admin: openAdmin}, args, func(name string) string { return env[name] }, &out, &errs)
	if got != code || (got != 0) != (errs.Len() > 0) {
		t.Errorf("callwright %s: exit code %d, want %d: %s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// wantText checks that a text contains all wanted texts.
func wantText(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("there is no %q in:\n%s", w, text)
		}
	}
}

// TestPorts checks that commands can move a request from submitted to completed.
func TestPorts(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r := d.signed()
	if r.State != porting.Submitted || r.Ref == "" {
		t.Fatalf("the request is %s with the order %q", r.State, r.Ref)
	}
	foc := time.Now().AddDate(0, 0, 9).UTC().Truncate(time.Second)
	for _, step := range []struct {
		args   []string
		prints string
		state  porting.State
		detail porting.Detail
	}{
		{[]string{"accept", r.Ref}, second + "  in_progress", porting.InProgress, porting.DetailCarrier},
		{[]string{"hold", r.Ref, "--code", "pin_invalid", "--words", "wrong PIN", "--number", second}, second + `  in_progress, pin_invalid ("wrong PIN")`, porting.InProgress, porting.DetailAction},
		{[]string{"accept", r.Ref}, second + "  in_progress", porting.InProgress, porting.DetailCarrier},
		{[]string{"confirm", r.Ref, "--foc", foc.Format(time.RFC3339)}, first + "  foc_confirmed " + foc.Format(time.RFC3339), porting.InProgress, porting.DetailConfirmed},
		{[]string{"reject", r.Ref, "--code", "port_freeze", "--number", second}, second + "  rejected, port_freeze", porting.InProgress, porting.DetailConfirmed},
		{[]string{"port", r.Ref}, first + "  ported", porting.Completed, porting.DetailPartly},
	} {
		out, _ := d.callwright(0, append([]string{"ports"}, step.args...)...)
		wantText(t, out, step.prints)
		if r = d.minute(r.ID); r.State != step.state || r.Status().Detail != step.detail {
			t.Errorf("a minute after %v the request is %s, %s", step.args, r.State, r.Status().Detail)
		}
	}
	if r.Numbers[0].State != porting.NumberPorted || r.Numbers[1].Failure == nil || r.Numbers[1].Failure.Code != porting.PortFreeze {
		t.Errorf("the numbers are %+v", r.Numbers)
	}
	_, errs := d.callwright(1, "ports", "port", r.Ref)
	wantText(t, errs, "has ended")
	if out, _ := d.callwright(0, "ports", "list", "--open"); strings.Contains(out, r.Ref) {
		t.Errorf("an order that has ended is open:\n%s", out)
	}
}

// TestPortsCancel checks that the operator sees a customer's request to cancel, and can refuse or confirm it.
func TestPortsCancel(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r := d.signed()
	d.callwright(1, "ports", "refuse-cancel", r.Ref)
	for _, answer := range []string{"refuse-cancel", "cancel"} {
		if _, err := d.service.Cancel(t.Context(), org, r.ID); err != nil {
			t.Fatal(err)
		}
		d.minute(r.ID)
		out, _ := d.callwright(0, "ports", "list")
		wantText(t, out, "asked 20")
		d.callwright(0, "ports", answer, r.Ref)
		if r = d.minute(r.ID); !r.CancelAskedAt.IsZero() && r.State != porting.Canceled {
			t.Errorf("after %s the request is %s, and the customer still wants to cancel", answer, r.State)
		}
	}
	if r.State != porting.Canceled {
		t.Errorf("the request is %s", r.State)
	}
}

func TestPortsShow(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r := d.signed()
	out, _ := d.callwright(0, "ports", "show", r.Ref)
	wantText(t, out, r.ID, "Acme Bakery", "Robin", "1 Main Street", "94607", r.Documents[0], "***31", first+"", "has a PIN")
	if strings.Contains(out, "88231") || strings.Contains(out, "4711") {
		t.Errorf("secrets were printed:\n%s", out)
	}
	out, _ = d.callwright(0, "ports", "show", r.Ref, "--secrets")
	wantText(t, out, "88231", "PIN 4711")
	for _, args := range [][]string{{"show", r.Ref, "--secrets"}, {"accept", r.Ref}} {
		out, _ = d.callwright(0, append([]string{"ports", "--json"}, args...)...)
		var shown struct {
			Ref     string `json:"ref"`
			Request string `json:"port_request_id"`
			Numbers []struct {
				PIN string `json:"pin"`
			} `json:"phone_numbers"`
		}
		if err := json.Unmarshal([]byte(out), &shown); err != nil || shown.Ref != r.Ref || shown.Request != r.ID || len(shown.Numbers) != 2 ||
			(shown.Numbers[1].PIN == "4711") != slices.Contains(args, "--secrets") {
			t.Errorf("%v, %v: %s", args, err, out)
		}
	}
}

func TestPortsCodes(t *testing.T) {
	t.Parallel()
	out, _ := run(t, nil, 0, "ports", "codes")
	wantText(t, out, "pin_invalid", "customer", "port_freeze")
	out, _ = run(t, nil, 0, "ports", "codes", "--json")
	var codes []struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal([]byte(out), &codes); err != nil || len(codes) != len(porting.Remedies()) || codes[0].Code != string(porting.Remedies()[0].Code) {
		t.Errorf("%d codes, %v", len(codes), err)
	}
}

// TestPortsRefused checks that a refused command reports the reason, and changes nothing.
func TestPortsRefused(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r := d.signed()
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{1, "not found", []string{"show", "absent"}},
		{1, "not found", []string{"port", "absent"}},
		{1, "is not a number of the order", []string{"port", r.Ref, "--number", "+14155550199"}},
		{1, "must not be before", []string{"confirm", r.Ref, "--foc", "2016-12-09T16:00:00Z"}},
		{1, "must not be in the future", []string{"port", r.Ref, "--at", "2999-12-09T16:00:00Z"}},
		{2, "must be a time", []string{"confirm", r.Ref}},
		{2, "must be a time", []string{"confirm", r.Ref, "--foc", "tomorrow"}},
		{2, "--code mood: unknown code", []string{"reject", r.Ref, "--code", "mood"}},
		{2, "--code is required", []string{"hold", r.Ref}},
		{2, "at most 1000 bytes", []string{"hold", r.Ref, "--code", "other", "--words", strings.Repeat("x", 1001)}},
		{2, "--words must be one line without control", []string{"hold", r.Ref, "--code", "other", "--words", "so\u202eso"}},
		{2, "--note must be one line without control", []string{"sign", r.ID, "--org", string(org), "--note", "folder\u009b12"}},
		{2, "--number 555", []string{"port", r.Ref, "--number", "555"}},
		{2, "the reference of an order", []string{"port"}},
		{2, "unknown flag", []string{"port", r.Ref, "--fast"}},
		{2, "unknown command ports dance", []string{"dance"}},
		{2, "--limit must be", []string{"list", "--limit", "0"}},
	} {
		_, errs := d.callwright(test.code, append([]string{"ports"}, test.args...)...)
		wantText(t, errs, test.want)
	}
	o, err := portingstore.ManualOrders{DB: d.db}.Order(t.Context(), r.Ref)
	if err != nil || o.Revision != 1 {
		t.Errorf("the order is %+v, %v", o, err)
	}
}

// TestPortsWrongDeployment checks that the commands refuse another master key, a folder without a deployment and a database of an older
// release, and that they create no files.
func TestPortsWrongDeployment(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	d.signed()
	other := masterkey.New(d.data).Text().Reveal()
	_, errs := run(t, map[string]string{"CALLWRIGHT_DATA": d.data, "CALLWRIGHT_SECRET_KEY": other}, 2, "ports", "list")
	wantText(t, errs, "not the key with which this database was created")
	_, errs = run(t, nil, 2, "ports", "list", "--data", filepath.Join(d.data, "absent"))
	wantText(t, errs, "name the data folder")
	empty := t.TempDir()
	_, errs = run(t, nil, 2, "ports", "list", "--data", empty)
	wantText(t, errs, "the master key is missing")
	_, errs = run(t, map[string]string{"CALLWRIGHT_SECRET_KEY": other}, 2, "ports", "list", "--data", empty)
	wantText(t, errs, "start the server first")
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("the command has made %v, %v", left, err)
	}
	if _, err := d.db.SQL().ExecContext(t.Context(), "DELETE FROM callwright_migrations WHERE version > 3"); err != nil {
		t.Fatal(err)
	}
	_, errs = d.callwright(2, "ports", "list")
	wantText(t, errs, "have version 3")
}

// TestPortsSign checks that the command for a letter signed on paper submits the request, which the server then processes.
func TestPortsSign(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r, _ := d.initiated()
	sign := []string{"ports", "sign", r.ID, "--org", string(org), "--note", "folder 12"}
	_, errs := d.callwright(1, "ports", "sign", r.ID, "--org", "another", "--note", "folder 12")
	wantText(t, errs, "not found")
	for _, missing := range []int{3, 5} {
		_, errs = d.callwright(2, slices.Delete(slices.Clone(sign), missing, missing+2)...)
		wantText(t, errs, sign[missing]+" is required")
	}
	out, _ := d.callwright(0, sign...)
	wantText(t, out, "submitted")
	if r = d.minute(r.ID); r.State != porting.Submitted || r.Ref == "" || r.SignedAt.IsZero() {
		t.Errorf("a minute later the request is %s with the order %q", r.State, r.Ref)
	}
	history, err := d.service.History(t.Context(), org, r.ID)
	if err != nil || len(history) != 2 || history[1].Actor != porting.Operator || history[1].Note != "folder 12" {
		t.Errorf("the history is %+v, %v", history, err)
	}
	_, errs = d.callwright(1, sign...)
	wantText(t, errs, "does not allow the event signed")
	var enqueued string
	if err := d.db.SQL().QueryRowContext(t.Context(), "SELECT group_concat(json(args)) FROM river_job").Scan(&enqueued); err != nil {
		t.Fatal(err)
	}
	wantText(t, enqueued, "porting.step", "porting.mail")
}

// TestPortsWithdraw checks that the operator can find the request that occupies a number, and withdraw it.
func TestPortsWithdraw(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r, _ := d.initiated()
	out, _ := d.callwright(0, "ports", "find", second)
	wantText(t, out, r.ID, string(org), "waiting_for_signature")
	withdraw := []string{"ports", "withdraw", r.ID, "--org", string(org), "--note", "not theirs"}
	for _, missing := range []int{3, 5} {
		_, errs := d.callwright(2, slices.Delete(slices.Clone(withdraw), missing, missing+2)...)
		wantText(t, errs, withdraw[missing]+" is required")
	}
	_, errs := d.callwright(1, "ports", "withdraw", r.ID, "--org", "another", "--note", "not theirs")
	wantText(t, errs, "not found")
	out, _ = d.callwright(0, withdraw...)
	wantText(t, out, "canceled")
	history, err := d.service.History(t.Context(), org, r.ID)
	if err != nil || len(history) != 2 || history[1].Actor != porting.Operator || history[1].Note != "not theirs" {
		t.Errorf("the history is %+v, %v", history, err)
	}
	if l, err := d.letters.Letter(t.Context(), org, r.ID); err != nil || l.State != loa.Revoked {
		t.Errorf("the letter is %s, %v", l.State, err)
	}
	for _, number := range []string{first, "+14155550199"} {
		_, errs = d.callwright(1, "ports", "find", number)
		wantText(t, errs, "no open port request contains "+number)
	}
	_, errs = d.callwright(2, "ports", "find", "555")
	wantText(t, errs, "555: ")

	r = d.signed()
	out, _ = d.callwright(0, "ports", "withdraw", r.ID, "--org", string(org), "--note", "not theirs", "--json")
	wantText(t, out, `"status": "submitted"`, `"cancel_asked_at": "20`)
	d.minute(r.ID)
	out, _ = d.callwright(0, "ports", "list", "--open")
	wantText(t, out, r.Ref, "asked 20")
	out, _ = d.callwright(0, "ports", "find", first)
	wantText(t, out, r.ID, "Cancellation asked")
	d.callwright(0, "ports", "cancel", r.Ref)
	if r = d.minute(r.ID); r.State != porting.Canceled {
		t.Errorf("the request is %s", r.State)
	}
	_, errs = d.callwright(1, "ports", "find", first)
	wantText(t, errs, "no open port request contains")
}

// TestPortsDocuments checks that the operator can store the files of an order in a folder, without overwriting files there.
func TestPortsDocuments(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	r := d.signed()
	folder := filepath.Join(t.TempDir(), "out")
	out, _ := d.callwright(0, "ports", "documents", r.Ref, "--out", folder)
	for name, want := range map[string]string{r.Documents[0] + ".pdf": bill, "letter-" + r.ID + ".pdf": "%PDF signed"} {
		path := filepath.Join(folder, name)
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %q, %v", name, got, err)
		}
		wantText(t, out, path)
	}
	_, errs := d.callwright(1, "ports", "documents", r.Ref, "--out", folder)
	wantText(t, errs, "already exists")
	d.callwright(1, "ports", "documents", "absent", "--out", folder)
	d.callwright(2, "ports", "documents", r.Ref)
}

// TestPortsOnPostgres checks that the commands find a Postgres database by its URL, and need no data folder if the environment contains the
// key.
func TestPortsOnPostgres(t *testing.T) {
	t.Parallel()
	address := pgtest.DSN(t)
	d := deployOn(t, t.TempDir(), address)
	key, err := os.ReadFile(masterkey.File(d.data))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"CALLWRIGHT_DATABASE_URL": address, "CALLWRIGHT_SECRET_KEY": string(key)}
	r, _ := d.initiated()
	run(t, env, 0, "ports", "sign", r.ID, "--org", string(org), "--note", "folder 12")
	r = d.minute(r.ID)
	run(t, env, 0, "ports", "port", r.Ref)
	if r = d.minute(r.ID); r.State != porting.Completed {
		t.Errorf("the request is %s", r.State)
	}
	out, _ := run(t, env, 0, "ports", "list")
	wantText(t, out, r.Ref, r.ID, "2 ported")
}
