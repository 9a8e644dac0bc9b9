package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	cw "github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/memstore/agentteststore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/scripted"
	pathways "github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/transport/cli"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/agenttestapi"
)

// far is an HTTP server in this process, with an organization, a key and a pathway.
type far struct {
	t       *testing.T
	url     string
	key     string
	pathway string
	tests   *agenttest.Service
	org     cw.OrgID
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newFar(t *testing.T) *far {
	t.Helper()
	store := memstore.New()
	work := memstore.NewWork(store, nil)
	keys := must(access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: cw.Secret(strings.Repeat("s", 32)),
	}))
	walks := must(pathways.New(pathways.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: work,
		Interpreter: &pathways.Interpreter{Model: scripted.New()},
	}))
	tests := must(agenttest.New(agenttest.Config{
		Store: agentteststore.Store{Store: store}, Atomic: store, Work: work, Leases: memstore.Leases{Store: store}, Node: "n1", Pathways: walks,
		Engine: must(engine.New(engine.Config{Runner: &agenttesttest.Runner{}, Model: scripted.New()})),
	}))
	org := must(keys.CreateOrganization(t.Context(), "acme", "Acme")).ID
	api := must(httpapi.New(httpapi.Config{
		Access: keys, Atomic: store, Idempotency: orgstore.IdempotencyStore{Store: store}, Areas: []httpapi.Area{agenttestapi.New(agenttestapi.Config{Tests: tests})},
	}))
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	return &far{
		t: t, url: s.URL, key: must(keys.CreateKey(t.Context(), org, "ci", 0)).Key.Reveal(), tests: tests, org: org,
		pathway: must(walks.Create(t.Context(), org, pathways.Draft{Name: "Clinic"})).ID,
	}
}

// run runs a subcommand of callwright scenarios with the server's key in the environment.
func (f *far) run(args ...string) (code int, stdout, stderr string) {
	f.t.Helper()
	var out, errs bytes.Buffer
	env := func(name string) string { return map[string]string{"CALLWRIGHT_API_KEY": f.key + "\n"}[name] }
	code = cli.Run(f.t.Context(), cli.Config{}, append([]string{"scenarios"}, args...), env, &out, &errs)
	return code, out.String(), errs.String()
}

// ok runs a command on the server and its pathway, checks that the command succeeds, and returns its output.
func (f *far) ok(args ...string) (stdout, stderr string) {
	f.t.Helper()
	code, stdout, stderr := f.run(append(args, "--server", f.url, "--pathway", f.pathway)...)
	if code != 0 {
		f.t.Fatalf("%v: exit code %d, %s", args, code, stderr)
	}
	return stdout, stderr
}

// stored returns the scenarios of the server by name.
func (f *far) stored() map[string]agenttest.Listed {
	f.t.Helper()
	page := must(f.tests.ListScenarios(f.t.Context(), f.org, agenttest.ScenarioFilter{}, 0))
	all := map[string]agenttest.Listed{}
	for _, l := range page.Items {
		all[l.Name] = l
	}
	return all
}

// TestScenariosGoToAServerAndBack checks that exported files contain the same scenarios as the imported ones: an import of the exported
// files changes nothing.
func TestScenariosGoToAServerAndBack(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	if out, _ := f.ok("import", "testdata/scenarios", "--dry-run"); out != "would create: Renews a prescription\nwould create: Asks something\nunchanged: 0\n" {
		t.Errorf("a dry run says %q", out)
	}
	if all := f.stored(); len(all) != 0 {
		t.Fatalf("a dry run has created %v", all)
	}
	if out, _ := f.ok("import", "testdata/scenarios"); out != "created: Renews a prescription\ncreated: Asks something\nunchanged: 0\n" {
		t.Errorf("the import says %q", out)
	}
	if out, _ := f.ok("import", "testdata/scenarios"); out != "unchanged: 2\n" {
		t.Errorf("the same import again says %q", out)
	}
	folder := filepath.Join(t.TempDir(), "exported")
	out, errs := f.ok("export", "--dir", folder)
	if want := filepath.Join(folder, "asks-something.yaml") + "\n" + filepath.Join(folder, "renews-a-prescription.yaml") + "\n"; out != want || errs != "" {
		t.Errorf("the export says %q, %q", out, errs)
	}
	if out, _ := f.ok("import", folder); out != "unchanged: 2\n" {
		t.Errorf("an import of what was exported says %q", out)
	}
	if code, out, errs := callwright(t, "test", folder, "--pathway", pathway); code != 0 {
		t.Errorf("callwright test of what was exported: exit code %d, %s%s", code, out, errs)
	}
	if out, _ := newFar(t).ok("import", folder); out != "created: Asks something\ncreated: Renews a prescription\nunchanged: 0\n" {
		t.Errorf("an import into another server says %q", out)
	}
}

// TestImportUpdates checks that an import updates the members that differ, and clears members that the file lacks.
func TestImportUpdates(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	const begin = "name: Renews\ntester_persona_prompt: You want to renew.\nassertions: [{type: NODE_REACHED, config: {node_id: done}}]\n"
	f.ok("import", write(t, begin+"max_turns: 7\nstart_node_id: start\nmin_score: 0.5\nrequest_data: {clinic: North}\nis_required_for_promotion: true\n"))
	before := f.stored()["Renews"]
	if before.MaxTurns != 7 || before.StartNode != "start" || *before.MinScore != 0.5 || !before.Required || before.RequestData["clinic"] != "North" {
		t.Fatalf("created %+v", before.Scenario)
	}
	out, _ := f.ok("import", write(t, begin+"max_turns: 8\nenabled: false\n"))
	if out != "updated: Renews (max_turns, start_node_id, request_data, min_score, is_required_for_promotion, enabled)\nunchanged: 0\n" {
		t.Errorf("the import says %q", out)
	}
	after := f.stored()["Renews"]
	if after.ID != before.ID || after.MaxTurns != 8 || after.StartNode != "" || after.MinScore != nil || after.Required || after.Enabled ||
		len(after.RequestData) != 0 || after.Assertions[0].ID != before.Assertions[0].ID {
		t.Errorf("updated to %+v", after.Scenario)
	}
}

// TestCredentialsStayOnTheServer checks that an export contains no credentials, and that an import of the export does not change the
// credentials. An import into another server, which lacks the credentials, must be refused.
func TestCredentialsStayOnTheServer(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.ok("import", write(t, `
name: Pays
tester_persona_prompt: You pay.
request_data: {api_key: hunter2-key, shop: North, inner: {password: hunter2-word}}
webhook_mocks: [{url: "https://pay.example/x?token=hunter2-token", body: {note: "Bearer hunter2-bearer"}}]
`))
	folder := t.TempDir()
	out, errs := f.ok("export", "--dir", folder)
	name := filepath.Join(folder, "pays.yaml")
	text := string(must(os.ReadFile(name)))
	if strings.Contains(text+out+errs, "hunter2") || strings.Count(text, cw.Redacted) != 4 || !strings.Contains(text, "shop: North") {
		t.Errorf("exported\n%s\n%s%s", text, out, errs)
	}
	for _, place := range []string{"request_data.api_key", "request_data.inner.password", "webhook_mocks[0].url", "webhook_mocks[0].body.note"} {
		if !strings.Contains(errs, place) {
			t.Errorf("nobody is told of %s: %s", place, errs)
		}
	}
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "North", "South")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := f.ok("import", folder); out != "updated: Pays (request_data)\nunchanged: 0\n" {
		t.Errorf("the import says %q", out)
	}
	got := must(json.Marshal(f.stored()["Pays"].RequestData))
	if string(got) != `{"api_key":"hunter2-key","inner":{"password":"hunter2-word"},"shop":"South"}` {
		t.Errorf("the server has %s", got)
	}
	other := newFar(t)
	code, _, errs := other.run("import", folder, "--server", other.url, "--pathway", other.pathway)
	if code != 3 || !strings.Contains(errs, "request_data.api_key") || !strings.Contains(errs, "replace it with the value") || len(other.stored()) != 0 {
		t.Errorf("elsewhere: exit code %d, %s", code, errs)
	}
}

// TestScenariosSayWhatIsWrong checks that each error states the cause or the next step, and contains no key.
func TestScenariosSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	const gone = "http://127.0.0.1:1" // no server listens at this address
	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(strange.Close)
	wrong := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(wrong, []byte("cw_nobody's\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.ok("import", "testdata/scenarios")
	here := []string{"--server", f.url, "--pathway", f.pathway}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing tested":   {[]string{"export", "--server", f.url}, "exactly one of --pathway ID and --persona ID"},
		"two tested":       {append([]string{"export", "--persona", "p"}, here...), "exactly one of --pathway ID and --persona ID"},
		"no address":       {[]string{"export", "--server", "localhost", "--pathway", "p"}, "--server must be an address such as"},
		"no key file":      {append([]string{"export", "--key-file", "nowhere"}, here...), "file of the API key: open nowhere"},
		"another key":      {append([]string{"export", "--key-file", wrong}, here...), "does not accept the key: set SERVICE_API_KEY"},
		"no server":        {[]string{"export", "--server", gone, "--pathway", "p"}, "no answer from"},
		"another server":   {[]string{"export", "--server", strange.URL, "--pathway", "p"}, "does not answer like a Callwright server"},
		"no scenarios":     {[]string{"export", "--server", f.url, "--pathway", "p"}, "has no scenarios that this key may read: check the id"},
		"another pathway":  {[]string{"import", "testdata/scenarios", "--server", f.url, "--pathway", "p"}, "404 NOT_FOUND)"},
		"another persona":  {[]string{"import", "testdata/scenarios", "--server", f.url, "--persona", "p"}, "persona_id"},
		"no files":         {append([]string{"import", t.TempDir()}, here...), "no file ends in .yaml"},
		"the same twice":   {append([]string{"import", "testdata/scenarios", "testdata/scenarios/renewal.yaml"}, here...), "two scenarios have it"},
		"a wrong scenario": {append([]string{"import", write(t, "name: x\nmax_turns: 99\n")}, here...), "more.yaml:2:12: max_turns"},
	} {
		code, out, errs := f.run(c.args...)
		if code != 3 || out != "" || !strings.Contains(errs, c.want) || strings.Contains(errs, f.key) {
			t.Errorf("%s: exit code %d, %q, %q", name, code, out, errs)
		}
	}
	var out, errs bytes.Buffer
	args := append([]string{"scenarios", "export"}, here...)
	if code := cli.Run(t.Context(), cli.Config{}, args, func(string) string { return "" }, &out, &errs); code != 3 || !strings.Contains(errs.String(), "the API key is missing") {
		t.Errorf("without a key: exit code %d, %s", code, errs.String())
	}
}

// TestImportThatStops checks that a failed import reports its progress, and that a second import makes the remaining changes.
func TestImportThatStops(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	behind := httputil.NewSingleHostReverseProxy(must(url.Parse(f.url)))
	var created atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || created.Add(1) != 2 {
			behind.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"data":null,"errors":[{"error":"UNAVAILABLE","message":"the database is away"}]}`))
	}))
	t.Cleanup(proxy.Close)
	args := []string{"import", "testdata/scenarios", "--server", proxy.URL, "--pathway", f.pathway}
	code, out, errs := f.run(args...)
	if code != 3 || out != "created: Renews a prescription\n" ||
		errs != "callwright: Asks something: the database is away (POST /v1/agent-testing/scenarios: 503 UNAVAILABLE); 1 of 2 changes were made: import again to make the others\n" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := f.run(args...); code != 0 || out != "created: Asks something\nunchanged: 1\n" {
		t.Errorf("again: exit code %d, %q, %q", code, out, errs)
	}
}
