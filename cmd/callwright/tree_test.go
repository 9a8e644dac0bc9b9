package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/cli"
	"github.com/callwright/callwright/transport/client"
)

// row describes the run of a command in TestCommandTree, which fails for a command without a row. The key of a row is the path of its
// command. FOLDER in an argument is replaced by a folder with the files of writeFiles. A command on a deployment sets prepare.
type row struct {
	args    []string
	prepare func(t *testing.T, d *deployment) []string // prepares the deployment d and returns further arguments
	stdin   string
	text    string   // part of the output without --json
	has     []string // members of the JSON, or of its first item
	api     bool     // the command calls the API, and fails if the API does
	lines   bool     // with --json it prints one value per line
	code    int      // exit code of a successful run
	failure int      // exit code after an API error if the command has its own codes; 0 if not
}

const (
	example = "01932c1f-0b21-7f10-9a52-1e6a1b2c3d4e"
	number  = "+14155550100"
)

// toolMessages are messages that an assistant sends to a tool server.
const toolMessages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

func ofOrder(more ...string) func(*testing.T, *deployment) []string {
	return func(_ *testing.T, d *deployment) []string { return append([]string{d.signed().Ref}, more...) }
}

func accepted(t *testing.T, d *deployment) []string {
	t.Helper()
	r := d.signed()
	d.callwright(0, "ports", "accept", r.Ref)
	return []string{r.Ref}
}

var rows = map[string]row{
	"":           {text: "Speech:", has: []string{"command", "commands"}},
	"help":       {args: []string{"speak"}, text: "--voice", has: []string{"usage", "flags"}},
	"completion": {args: []string{"bash"}, text: "__start_callwright", has: []string{"shell", "script"}},

	"speak":   {args: []string{"Hello.", "-o", "FOLDER/out.wav"}, text: "244 bytes", has: []string{"url", "sample_id", "voice_used", "file"}, api: true},
	"voices":  {args: []string{"--custom"}, text: "Ines", has: []string{"voices"}, api: true},
	"voice":   {args: []string{"Ines"}, text: "Calm and clear.", has: []string{"voice"}, api: true},
	"clone":   {args: []string{"Ines", "FOLDER/in.wav"}, text: "Ines", has: []string{"voice_id", "name"}, api: true},
	"rename":  {args: []string{example, "Ines two"}, text: "Ines two", has: []string{"voice_id", "name"}, api: true},
	"delete":  {args: []string{example, "--yes"}, text: "Voice deleted.", has: []string{"status", "message"}, api: true},
	"samples": {text: "list", has: []string{"command", "commands"}},

	"samples list":   {args: []string{"--voice", example, "--limit", "5"}, text: "Your appointment", has: []string{"data", "total"}, api: true},
	"samples delete": {args: []string{example, "--yes"}, text: "deleted", has: []string{"status", "message", "sample_id"}, api: true},
	"samples get":    {args: []string{example, "-o", "FOLDER/out.wav"}, text: "244 bytes", has: []string{"id", "text", "file"}, api: true},

	"mcp": {stdin: toolMessages, text: "tts_speak", has: []string{"jsonrpc", "result"}, lines: true},

	"calls":           {text: "place", has: []string{"commands"}},
	"calls list":      {args: []string{"--limit", "3"}, text: "completed", has: []string{"calls", "next_cursor"}, api: true},
	"calls show":      {args: []string{example}, text: "Tuesday is fine.", has: []string{"call_id", "transcripts"}, api: true},
	"calls stop":      {args: []string{example}, text: "being ended", has: []string{"status"}, api: true},
	"calls place":     {args: []string{number, "--task", "Say hello.", "--var", "a=b"}, text: "queued", has: []string{"call_id"}, api: true},
	"calls recording": {args: []string{example, "-o", "FOLDER/call.wav"}, text: "244 bytes", has: []string{"file"}, api: true},

	"trunks":        {text: "status", has: []string{"commands"}},
	"trunks list":   {text: number, has: []string{"numbers"}, api: true},
	"trunks show":   {args: []string{number}, text: "sip:pbx.example.com", has: []string{"outbound"}, api: true},
	"trunks status": {args: []string{number}, text: "healthy", has: []string{"status"}, api: true},
	"trunks calls":  {args: []string{number, "--limit", "1"}, text: "200 OK", has: []string{"calls"}, api: true},
	"trunks test":   {args: []string{number}, text: "answered", has: []string{"result", "timeline"}, api: true},

	"webhooks":        {text: "resume", has: []string{"commands"}},
	"webhooks paused": {text: "hooks.example.com:8443", has: []string{"host", "paused_at"}, api: true},
	"webhooks resume": {args: []string{"hooks.example.com:8443"}, text: "within 25 minutes", has: []string{"status"}, api: true},

	"pathways":          {text: "versions", has: []string{"commands"}},
	"pathways list":     {text: "Booking", has: []string{"id", "name"}, api: true},
	"pathways show":     {args: []string{example}, text: "greeting", has: []string{"nodes", "edges"}, api: true},
	"pathways versions": {args: []string{example}, text: "Confirms the time", has: []string{"version_number"}, api: true},
	"pathways publish":  {args: []string{example, "8"}, text: "in production", has: []string{"published"}, api: true},
	"pathways chat":     {args: []string{example}, stdin: "Tuesday.\n", text: "Thank you, goodbye.", has: []string{"chat_id"}, api: true, lines: true},

	"issues":          {text: "comment", has: []string{"commands"}},
	"issues list":     {args: []string{"--status", "todo,done"}, text: "T-1001", has: []string{"items", "next_cursor"}, api: true},
	"issues show":     {args: []string{example}, text: "Agent books a closed day", has: []string{"id", "title"}, api: true},
	"issues activity": {args: []string{example}, text: "Log reader", has: []string{"items"}, api: true},
	"issues comment":  {args: []string{example, "Heard it."}, text: "Ada Park", has: []string{"id"}, api: true},
	"issues status":   {args: []string{example, "in_progress"}, text: "in_progress", has: []string{"status"}, api: true},

	"test":             {args: []string{"../../transport/cli/testdata/scenarios", "--pathway", "../../transport/cli/testdata/pathway.json"}, text: "passed", has: []string{"scenarios"}},
	"brain":            {text: "check", has: []string{"commands"}},
	"brain check":      {prepare: greeter, text: "speaks-first", has: []string{"duties"}},
	"scenarios":        {text: "export", has: []string{"commands"}},
	"scenarios export": {args: []string{"--pathway", example, "--dir", "FOLDER/scenarios"}, text: ".yaml", has: []string{"file", "name"}, api: true, failure: 3},
	"scenarios import": {args: []string{"../../transport/cli/testdata/scenarios", "--pathway", example}, text: "created: ", has: []string{"changes", "unchanged"}, api: true, failure: 3},

	"ports":               {text: "requests", has: []string{"commands"}},
	"ports requests":      {args: []string{"--status", "in_progress"}, text: "foc_confirmed", has: []string{"port_requests"}, api: true},
	"ports request":       {args: []string{"port_1"}, text: number, has: []string{"port_request"}, api: true},
	"ports check":         {args: []string{number, "+19005550100"}, text: "landline", has: []string{"results"}, api: true},
	"ports codes":         {text: "pin_invalid", has: []string{"code", "text"}},
	"ports list":          {prepare: func(_ *testing.T, d *deployment) []string { d.signed(); return []string{"--open"} }, text: "2 submitted", has: []string{"ref"}},
	"ports show":          {prepare: ofOrder(), text: "Acme Bakery", has: []string{"ref", "account"}},
	"ports accept":        {prepare: ofOrder(), text: "in_progress", has: []string{"ref"}},
	"ports confirm":       {prepare: ofOrder("--foc", time.Now().AddDate(0, 0, 9).UTC().Format(time.RFC3339)), text: "foc_confirmed", has: []string{"ref"}},
	"ports port":          {prepare: accepted, text: "ported", has: []string{"ref"}},
	"ports reject":        {prepare: ofOrder("--code", "port_freeze"), text: "rejected", has: []string{"ref"}},
	"ports hold":          {prepare: ofOrder("--code", "pin_invalid"), text: "pin_invalid", has: []string{"ref"}},
	"ports cancel":        {prepare: ofOrder(), text: "canceled", has: []string{"ref"}},
	"ports documents":     {prepare: ofOrder("--out", "FOLDER/documents"), text: "application/pdf", has: []string{"file", "what"}},
	"ports find":          {prepare: func(_ *testing.T, d *deployment) []string { d.signed(); return []string{first} }, text: "submitted", has: []string{"port_request_id"}},
	"ports verify":        {args: []string{"FOLDER/evidence.json"}, text: "none changed", has: []string{"head"}},
	"admin":               {text: "orgs", has: []string{"commands"}},
	"admin orgs":          {text: "create", has: []string{"commands"}},
	"admin orgs list":     {prepare: func(t *testing.T, d *deployment) []string { t.Helper(); d.acme(t); return nil }, text: "Acme", has: []string{"organizations"}},
	"admin orgs create":   {args: []string{"Acme"}, prepare: nothing, text: "Acme", has: []string{"organization", "webhook_secret"}},
	"admin orgs show":     {prepare: ofAcme(), text: "Acme", has: []string{"id", "name"}},
	"admin orgs set":      {prepare: ofAcme("--contact", "noc@acme.example"), text: "noc@acme.example", has: []string{"id", "contact_email"}},
	"admin sip-bans":      {text: "lift", has: []string{"commands"}},
	"admin sip-bans list": {prepare: func(t *testing.T, d *deployment) []string { t.Helper(); banned(t, d); return nil }, text: "192.0.2.1", has: []string{"bans"}},
	"admin sip-bans lift": {prepare: banned, text: "192.0.2.1", has: []string{"lifted"}},
	"admin numbers":       {text: "release", has: []string{"commands"}},
	"admin numbers find": {prepare: func(t *testing.T, d *deployment) []string {
		t.Helper()
		d.attach(t, org, first)
		return []string{first}
	}, text: "inbound", has: []string{"holders"}},
	"admin numbers release":       {prepare: releases, text: string(org), has: []string{"released"}},
	"admin keys":                  {text: "rotate", has: []string{"commands"}},
	"admin keys list":             {prepare: func(t *testing.T, d *deployment) []string { t.Helper(); return ofKey(t, d)[1:] }, text: "ci", has: []string{"keys"}},
	"admin keys create":           {args: []string{"ci"}, prepare: ofAcme("--org"), text: "ci", has: []string{"key", "api_key"}},
	"admin keys rotate":           {prepare: ofKey, text: "ci", has: []string{"key", "api_key", "replaces"}},
	"admin keys revoke":           {prepare: ofKey, text: "revoked", has: []string{"id", "status"}},
	"admin webhook-secret":        {text: "rotate", has: []string{"commands"}},
	"admin webhook-secret rotate": {prepare: ofAcme(), has: []string{"organization", "webhook_secret"}},

	"ports refuse-cancel": {prepare: wantsToCancel, text: "refused", has: []string{"cancel_refused"}},
	"ports sign": {prepare: func(_ *testing.T, d *deployment) []string {
		r, _ := d.initiated()
		return []string{r.ID, "--org", string(org), "--note", "on paper"}
	}, text: "submitted", has: []string{"port_request_id"}},
	"ports withdraw": {prepare: func(_ *testing.T, d *deployment) []string {
		return []string{d.signed().ID, "--org", string(org), "--note", "a mistake"}
	}, text: "Cancellation asked", has: []string{"port_request_id"}},
}

func nothing(*testing.T, *deployment) []string { return nil }

// greeter runs a service that implements a brain, and returns its URL.
func greeter(t *testing.T, _ *deployment) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type":"say","text":"Hello."}`+"\n"+`{"type":"done"}`+"\n")
	}))
	t.Cleanup(server.Close)
	return []string{server.URL}
}

// ofAcme returns a prepare function that creates an organization, and returns the given arguments followed by the organization's id.
func ofAcme(before ...string) func(*testing.T, *deployment) []string {
	return func(t *testing.T, d *deployment) []string {
		t.Helper()
		return append(before, d.acme(t))
	}
}

// banned bans an address for an hour, and returns the address.
func banned(t *testing.T, d *deployment) []string {
	t.Helper()
	now := time.Now()
	_, err := bunstore.Leases{DB: d.db}.Claim(t.Context(), "sip-ban", "node", []string{"192.0.2.1"}, now, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"192.0.2.1"}
}

// releases attaches a number, and returns the arguments that release it.
func releases(t *testing.T, d *deployment) []string {
	t.Helper()
	d.attach(t, org, first)
	return []string{first, "--org", string(org), "--note", "moves", "--yes"}
}

// ofKey creates an API key, and returns the arguments that select it.
func ofKey(t *testing.T, d *deployment) []string {
	t.Helper()
	id := d.acme(t)
	key := admin(t, map[string]string{"CALLWRIGHT_DATA": d.data}, "keys", "create", "ci", "--org", id)
	return []string{key.Key.ID, "--org", id}
}

func (d *deployment) acme(t *testing.T) (id string) {
	t.Helper()
	return admin(t, map[string]string{"CALLWRIGHT_DATA": d.data}, "orgs", "create", "Acme").Organization.ID
}

func wantsToCancel(t *testing.T, d *deployment) []string {
	t.Helper()
	r := d.signed()
	if _, err := d.service.Cancel(t.Context(), org, r.ID); err != nil {
		t.Fatal(err)
	}
	d.minute(r.ID)
	return []string{r.Ref}
}

// TestCommandTree checks every command of the program with and without --json. It also checks that commands that call the API fail if the
// API does.
func TestCommandTree(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var walk func(cmd *cobra.Command, path []string)
	walk = func(cmd *cobra.Command, path []string) {
		name := strings.Join(path, " ")
		seen[name] = true
		r, ok := rows[name]
		if !ok {
			t.Errorf("the command %q has no row in tree_test.go: see row", name)
		} else {
			t.Run("callwright "+name, func(t *testing.T) {
				t.Parallel()
				r.run(t, path)
			})
		}
		for _, below := range cmd.Commands() {
			walk(below, append(slices.Clone(path), below.Name()))
		}
	}
	root := cli.NewRoot(config(nil), func(string) string { return "" })
	root.InitDefaultHelpCmd()
	walk(root, nil)
	for name := range rows {
		if !seen[name] {
			t.Errorf("the row %q is of no command", name)
		}
	}
}

// writeFiles creates a folder with the files that rows read, and returns its path.
func writeFiles(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range map[string]string{"in.wav": wav(), "evidence.json": evidence(t)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// evidence returns the evidence of a letter that was created but not yet signed, as JSON.
func evidence(t *testing.T) string {
	t.Helper()
	sum := sha256.Sum256([]byte("letter"))
	e := loa.Evidence{Request: "port_1", SHA256: hex.EncodeToString(sum[:])}
	made := loa.Event{Kind: loa.EventCreated, SHA256: e.SHA256, Number: 1, At: time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC)}
	sum = sha256.Sum256(made.Canonical())
	made.Hash = hex.EncodeToString(sum[:])
	e.Events, e.Head = []loa.Event{made}, made.Hash
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// result is the exit code and the output of a command.
type result struct {
	code      int
	out, errs string
}

// start runs the command of a row with further arguments. If url is empty and the row sets prepare, the command runs on a new deployment
// instead of an API.
func (r row) start(t *testing.T, path []string, url string, more ...string) result {
	t.Helper()
	env := map[string]string{"SERVICE_BASE_URL": url, "SERVICE_API_KEY": exampleKey}
	args := append(slices.Clone(path), r.args...)
	if r.prepare != nil && url == "" {
		d := deploy(t)
		args = append(args, r.prepare(t, d)...)
		env["CALLWRIGHT_DATA"] = d.data
	}
	folder := writeFiles(t)
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "FOLDER", folder)
	}
	c := config(strings.NewReader(r.stdin))
	c.Terminal = func(any) bool { return false }
	c.Retry = client.Retry{Tries: 1}
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), c, append(args, more...), func(name string) string { return env[name] }, &out, &errs)
	return result{code: code, out: out.String(), errs: errs.String()}
}

// run checks the output of a row's command for people and as JSON. If the command calls the API, run also checks how it fails.
func (r row) run(t *testing.T, path []string) {
	t.Helper()
	url := ""
	if r.api {
		url = serveExamples(t, 0)
	}
	got := r.start(t, path, url)
	if got.code != r.code || got.errs != "" || !strings.Contains(got.out, r.text) || json.Valid([]byte(got.out)) {
		t.Errorf("for people: exit code %d, want %d, %q in\n%s%s", got.code, r.code, r.text, got.out, got.errs)
	}
	if strings.Contains(got.out, `\u00`) {
		t.Errorf("there are hidden characters in\n%s", got.out)
	}
	got = r.start(t, path, url, "--json")
	if got.code != r.code || got.errs != "" {
		t.Errorf("with --json: exit code %d, want %d\n%s%s", got.code, r.code, got.out, got.errs)
	}
	r.checkJSON(t, got.out)
	if r.api {
		r.fails(t, path)
	}
}

// checkJSON checks that a text consists of one JSON value, or of one value per line if lines is set. The first value, or its first item if
// it is a list, must contain the members of the row.
func (r row) checkJSON(t *testing.T, text string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var values []any
	for {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		values = append(values, v)
	}
	if len(values) == 0 || len(values) > 1 != r.lines || r.lines && len(values) != strings.Count(text, "\n") {
		t.Fatalf("there are %d JSON values:\n%s", len(values), text)
	}
	record := values[0]
	if list, ok := record.([]any); ok && len(list) > 0 {
		record = list[0]
	}
	for _, name := range r.has {
		if members, _ := record.(map[string]any); members == nil {
			t.Errorf("it is no object:\n%s", text)
		} else if _, ok := members[name]; !ok {
			t.Errorf("there is no member %q in\n%s", name, text)
		}
	}
}

// fails checks the exit code and the error of a row's command if the API refuses requests or does not answer.
func (r row) fails(t *testing.T, path []string) {
	t.Helper()
	const gone = "http://127.0.0.1:1" // no server listens there; another server may reuse the port of a closed server
	for _, c := range []struct {
		url    string
		status int
		code   int
	}{
		{serveExamples(t, http.StatusUnauthorized), http.StatusUnauthorized, cli.ExitUnauthorized},
		{serveExamples(t, http.StatusNotFound), http.StatusNotFound, cli.ExitRefused},
		{serveExamples(t, http.StatusTooManyRequests), http.StatusTooManyRequests, cli.ExitUnavailable},
		{gone, 0, cli.ExitUnavailable},
	} {
		if r.failure != 0 {
			c.code = r.failure
		}
		got := r.start(t, path, c.url)
		if got.code != c.code || got.out != "" || !strings.HasPrefix(got.errs, "callwright: ") || strings.Contains(got.errs, exampleKey) {
			t.Errorf("status %d: exit code %d, want %d: %q, %q", c.status, got.code, c.code, got.out, got.errs)
		}
		got = r.start(t, path, c.url, "--json")
		var said struct {
			Code     string          `json:"code"`
			Message  string          `json:"message"`
			Field    string          `json:"field"`
			Status   int             `json:"status"`
			Body     json.RawMessage `json:"body"`
			ExitCode int             `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(got.errs), &said); err != nil || got.code != c.code || got.out != "" || strings.Count(got.errs, "\n") != 1 {
			t.Errorf("status %d with --json: exit code %d, want %d, %v: %q, %q", c.status, got.code, c.code, err, got.out, got.errs)
		}
		if said.Code == "" || said.Message == "" || said.Status != c.status || said.ExitCode != c.code ||
			c.status != 0 && (said.Body == nil || said.Code != "TEAPOT" || said.Field != "number") {
			t.Errorf("status %d: the error is %s", c.status, got.errs)
		}
	}
}
