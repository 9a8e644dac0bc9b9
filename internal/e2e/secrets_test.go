package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
)

// These marks begin the texts that the test plants. A secret must never appear in answers or logs. A private text must never be logged. A
// sealed text must neither be logged nor stored in plain text.
const (
	secretMark  = "hunter2sXq"
	privateMark = "madeira9pW"
	sealedMark  = "tawny5kRdB"
)

// formsOf returns the forms in which a mark may appear: plain, hexadecimal, and in base64 at any offset.
func formsOf(mark string) (forms []string) {
	forms = []string{mark, hex.EncodeToString([]byte(mark)), strings.ToUpper(hex.EncodeToString([]byte(mark)))}
	for before := range 3 {
		padded := append(make([]byte, before), mark...)
		text := base64.RawStdEncoding.EncodeToString(padded)
		// A base64 character encodes six bits. Omit the characters that also contain bits of the text before or after.
		text = text[(before*8+5)/6 : len(padded)*8/6]
		forms = append(forms, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
	}
	return forms
}

// vault records the planted texts and where they were planted.
type vault struct {
	t     *testing.T
	where map[string]string // place of each planted text
	own   map[string]string // secrets that the server created, and where they may appear
	found map[string]bool
}

// plant returns a new unique text that begins with a mark, and records where it is planted.
func (v *vault) plant(mark, where string) string {
	text := fmt.Sprintf("%sn%04dz", mark, len(v.where))
	v.where[text] = where
	return text
}

// search fails the test if a text contains one of the marks in any form. If secretMark is among them, the text must also lack the secrets
// that the server created, except where they belong.
func (v *vault) search(what string, text []byte, marks ...string) {
	v.t.Helper()
	for made, name := range v.own {
		if !slices.Contains(marks, secretMark) || strings.HasSuffix(what, name) || v.found[what+name] {
			continue
		}
		if slices.ContainsFunc(formsOf(made), func(form string) bool { return bytes.Contains(text, []byte(form)) }) {
			v.found[what+name] = true
			v.t.Errorf("%s has %s", what, name)
		}
	}
	for _, mark := range marks {
		for _, form := range formsOf(mark) {
			at := bytes.Index(text, []byte(form))
			if at < 0 {
				continue
			}
			around := text[max(0, at-160):min(len(text), at+160)]
			leaked := "something planted"
			for planted, where := range v.where {
				if bytes.Contains(around, []byte(planted)) {
					leaked = where
				}
			}
			if key := what + leaked; !v.found[key] {
				v.found[key] = true
				v.t.Errorf("%s has %s: …%q…", what, leaked, around)
			}
		}
	}
}

// pbxPassword describes the passwords that forPBX matches.
const pbxPassword = "the password for a telephone system"

// forPBX matches the passwords that the server creates for telephone systems.
var forPBX = regexp.MustCompile(`"register_password_for_pbx":"([^"]+)"`)

// prober sends requests with secrets to a server, and searches its answers for them.
type prober struct {
	*vault
	s     *server.Server
	names *strings.Replacer // replaces HOOKS, PHONE and ASKS
	seen  ids
	calls []string
	taken map[string]bool // accepted members with a secret, as "operation path"
}

// do sends a request and returns the status of the answer, or 0 if no client can send the request. It fails the test if the answer contains
// a secret.
func (p *prober) do(method, target, body string, header http.Header) int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.s.URL+target, strings.NewReader(body))
	if err != nil {
		return 0 // no client can send this request
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if r.Header.Get("Content-Type") == "" && body != "" {
		r.Header.Set("Content-Type", "application/json")
		if body[0] != '{' {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+p.s.Key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, target, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, target, err)
	}
	if answer.StatusCode == http.StatusInternalServerError {
		p.t.Errorf("%s %s %.300s: %d %s", method, target, body, answer.StatusCode, text)
	}
	for _, made := range forPBX.FindAllSubmatch(text, -1) {
		p.own[string(made[1])] = pbxPassword
	}
	op, _ := contracttest.Find(method, r.URL.EscapedPath())
	p.notePorts(op.ID, text)
	text = withoutToken(target, text)
	what := fmt.Sprintf("the answer %d of %s", answer.StatusCode, op.ID)
	p.search(what, contracttest.WithoutSecrets(op.ID, answer.StatusCode, text), secretMark)
	for name, values := range answer.Header {
		p.search(what+", header "+name, []byte(strings.Join(values, "\n")), secretMark)
	}
	if answer.StatusCode >= http.StatusBadRequest && !showsLetter(op.ID, answer.StatusCode) {
		p.search(what, text, privateMark, sealedMark)
	}
	var value any
	if answer.StatusCode < 300 && json.Unmarshal(text, &value) == nil {
		p.seen.add(areaOf(r.URL.Path), "", value)
	}
	return answer.StatusCode
}

// exercise sends a request with secrets, which must succeed or be unimplemented. If its body or path contains a secret, exercise then sends
// invalid variants of it.
func (p *prober) exercise(e exercise) {
	p.t.Helper()
	target := p.names.Replace(e.target)
	for name, values := range p.seen {
		target = strings.ReplaceAll(target, "{"+name+"}", values[len(values)-1])
		e.body = strings.ReplaceAll(e.body, "{"+name+"}", values[len(values)-1])
	}
	op, ok := contracttest.Find(e.method, target)
	if !ok {
		p.t.Fatalf("%s %s is no operation", e.method, target)
	}
	at := map[string]bool{}
	body := p.filled(op.ID, e.body, at, func(text string) any { return text })
	header := http.Header{"Idempotency-Key": {fmt.Sprint("k", len(p.where))}}
	status := p.do(e.method, target, body, header)
	if status >= 300 && status != http.StatusNotImplemented {
		p.t.Errorf("%s %s: %d", op.ID, body, status)
		return
	}
	if strings.Contains(e.target, "{token}") {
		at["token"] = true
	}
	for path := range at {
		p.taken[op.ID+" "+path] = true
	}
	if !strings.Contains(e.target+e.body, "§") {
		return
	}
	p.refused(op.ID, e, target, header)
}

// refused sends invalid variants of a request, each with secrets.
func (p *prober) refused(op string, e exercise, target string, header http.Header) {
	p.t.Helper()
	none := map[string]bool{}
	for _, odd := range []func(text string) any{
		func(text string) any { return map[string]any{"a": text} },
		func(text string) any { return []any{text} },
		func(text string) any { return text + strings.Repeat("x", 70_000) },
		func(text string) any { return text + "\x00\n" },
		func(text string) any { return "://%zz" + text + "{{" },
	} {
		if e.body != "" {
			p.do(e.method, target, p.filled(op, e.body, none, odd), nil)
		}
	}
	body := p.filled(op, e.body, none, func(text string) any { return text })
	p.do(e.method, target, body, header) // the key belongs to another body
	p.do(e.method, target, strings.Replace(body, "{", `{"colour":"`+p.plant(secretMark, op+" with colour")+`",`, 1), nil)
	p.do(e.method, target, body[:len(body)*3/4], nil)
	p.do(e.method, target+"?api_key="+p.plant(secretMark, op+" query"), body, nil)
	p.do(e.method, target, body, http.Header{"Content-Type": {"text/" + p.plant(secretMark, op+" content type")}})
	p.do(e.method, target, body, http.Header{"Authorization": {"Bearer " + p.plant(secretMark, op+" API key")}})
}

// filled replaces every § in a body by a planted secret, as changed by the function odd, and every ¶ and ‡ by a private or sealed text. It
// adds the paths of the secrets to the set at.
func (p *prober) filled(op, body string, at map[string]bool, odd func(text string) any) string {
	if body == "" || body[0] != '{' {
		return p.open(op, body)
	}
	var value any
	if err := json.Unmarshal([]byte(p.names.Replace(body)), &value); err != nil {
		p.t.Fatalf("%s: %v\n%s", op, err, body)
	}
	text, err := json.Marshal(p.walk(op, "", value, at, odd))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func (p *prober) walk(op, path string, value any, at map[string]bool, odd func(text string) any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = p.walk(op, strings.TrimPrefix(path+"."+name, "."), member, at, odd)
		}
	case []any:
		for i, item := range value {
			value[i] = p.walk(op, path+"[]", item, at, odd)
		}
	case string:
		switch {
		case strings.Contains(value, "§"):
			at[path] = true
			return odd(strings.ReplaceAll(value, "§", p.plant(secretMark, op+" "+path)))
		default:
			return p.open(op+" "+path, value)
		}
	}
	return value
}

// open replaces every ¶ by a planted private text, and every ‡ by a planted sealed text.
func (p *prober) open(where, text string) string {
	for sign, mark := range map[string]string{"¶": privateMark, "‡": sealedMark} {
		if strings.Contains(text, sign) {
			text = strings.ReplaceAll(text, sign, p.plant(mark, where))
		}
	}
	return text
}

// TestFormsOf checks that formsOf finds a mark in encodings of longer texts.
func TestFormsOf(t *testing.T) {
	t.Parallel()
	has := func(text string) bool {
		return slices.ContainsFunc(formsOf(secretMark), func(form string) bool { return strings.Contains(text, form) })
	}
	for n := range 7 {
		text := []byte(strings.Repeat("p", n) + secretMark + strings.Repeat("q", 7-n))
		for _, encoded := range []string{
			string(text), url.QueryEscape(string(text)), hex.EncodeToString(text), base64.StdEncoding.EncodeToString(text), base64.RawURLEncoding.EncodeToString(text),
		} {
			if !has(encoded) {
				t.Errorf("%s is not found in %s", secretMark, encoded)
			}
		}
	}
	if has("hunter2") {
		t.Error("found where it is not")
	}
}

// TestSecretsStayHidden plants a secret in every member that the contract marks as a secret, and in the server's settings. The secrets are
// used, refused, and stored over a restart. They must not appear in answers, logs, files or the environment of other programs.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	v := &vault{t, map[string]string{}, map[string]string{}, map[string]bool{}}
	other := newOtherSystem(t)
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	asks := newAsking(t, ca)
	children := filepath.Join(t.TempDir(), "children")
	config := server.Config{
		Data: t.TempDir(), Roots: ca.CertFile(), Flags: []string{"--log-level", "debug", "--llm-base-url", other.URL + "/v1", "--llm-model", "m", "--simulated-carrier", "1s,2s,3s", "--simulated-carrier-secret", carrierSecret},
		Env: []string{
			"CALLWRIGHT_LLM_API_KEY=" + v.plant(secretMark, "the model's key"),
			"CALLWRIGHT_SMTP_URL=smtp://ops%40example.com:" + v.plant(secretMark, "the mail password") + "@127.0.0.1:9",
			"CALLWRIGHT_SECRET_KEY=" + base64.StdEncoding.EncodeToString([]byte((v.plant(secretMark, "the master key") + strings.Repeat("k", 32))[:32])),
			"OTHER_PASSWORD=" + v.plant(secretMark, "another program's password"),
			"PATH=" + spies(t, children) + ":" + os.Getenv("PATH"),
		},
	}
	s := server.Start(t, config)
	p := &prober{
		vault: v, s: s, seen: ids{"phone_number": {ours.String()}}, taken: map[string]bool{},
		names: strings.NewReplacer("HOOKS", other.URL, "PHONE", phone.Server(), "ASKS", asks.uri),
	}
	v.own[s.Key], v.own[s.WebhookSecret(t)] = "api-key", "webhook-secret" // the files in the data folder that contain them
	p.uploadBill()
	v.own[carrierSecret] = "the secret of the simulated carrier"
	for _, e := range exercises {
		p.exercise(e)
	}
	p.listen()
	p.complete()
	p.openUnknownLetters()
	if !slices.Contains(slices.Collect(maps.Values(v.own)), pbxPassword) {
		t.Error("the server made no password for a telephone system")
	}
	inURI := p.plant(secretMark, "a password in a SIP URI")
	if p.do(http.MethodPost, "/v1/sip/attach", `{"phone_number":"+14155550103","service":"sip","directions":[{"type":"outbound",
		"sip_endpoint":"sip:acme:`+inURI+`@127.0.0.1:5061;transport=tls"}]}`, nil) != http.StatusBadRequest {
		t.Error("a SIP URI with a password is taken, and shown")
	}
	p.do(http.MethodGet, "/v1/nothing/"+v.plant(secretMark, "an unknown path"), "", nil)
	other.await(t, "/hook", "/orders", "/customers", "/broken", "/node", "/run", "/port")
	asks.await(t)
	p.awaitPort()
	for _, c := range s.Calls(t) {
		s.Ended(t, c.CallID)
		p.calls = append(p.calls, c.CallID)
	}
	p.read()
	p.outside()
	s.Stop(t)
	p.s = server.Start(t, config)
	p.read()
	p.s.Stop(t)
	// The first server prints its API key once.
	v.search("the log", []byte(strings.Replace(s.Log(), s.Key, "", 1)+p.s.Log()), secretMark, privateMark, sealedMark)
	v.files(config.Data, privateMark)
	v.files(children, "PATH=")
}

// complete fails the test for each member that the contract marks as a secret and that no exercise covers. It also fails the test for an
// unmarked member that is named like a secret and is not in innocents.
func (p *prober) complete() {
	p.t.Helper()
	for _, m := range contracttest.Secrets() {
		found := false
		for path := range p.taken {
			op, at, _ := strings.Cut(path, " ")
			found = found || op == m.Operation && (at == m.Path || strings.HasPrefix(at, m.Path+".") || strings.HasPrefix(at, m.Path+"["))
		}
		if !found {
			p.t.Errorf("%s is a secret: add an exercise with one there", m)
		}
	}
	for _, m := range contracttest.Unmarked() {
		if !innocent(m.Path) {
			p.t.Errorf("%s is named like a secret: mark it in the contract with x-secret or writeOnly, or say in innocents why it is none", m)
		}
	}
}

// read sends generated requests to every operation that reads, except event streams, and checks that the important ones succeed.
func (p *prober) read() {
	p.t.Helper()
	good := map[string]bool{}
	known := func(path, operation, in, name string) []string {
		switch {
		case name == "version":
			return []string{"1"}
		case name == "id" && strings.HasPrefix(path, "/v1/pathway/"):
			return p.seen["pathway_id"] // not the ids of nodes
		case name == "call_id" && strings.HasPrefix(path, "/v1/calls"):
			return p.calls // not the attempts in the log of SIP calls
		}
		return p.seen.of(path, operation, in, name)
	}
	contracttest.NewGenerator(3, known).Each(generatedEach, func(g contracttest.Request) {
		if g.Method == http.MethodGet && !g.Streams && g.Change == "" && p.do(g.Method, g.Target, "", g.Header) < 300 {
			good[g.Operation] = true
		}
	})
	if p.do(http.MethodGet, "/v1/calls", "", nil) < 300 { // without filters, because most generated combinations are invalid
		good["listCalls"] = true
	}
	for _, op := range []string{
		"getCall", "listCalls", "getTestScenario", "listTestScenarios", "getTestRun", "listTestRuns", "getTestBatch", "listTestBatches", "getSipConfig", "getSipConfiguration", "getSipStatus", "listSipCalls", "listAgents", "getInboundNumber",
		"listInboundNumbers", "getPathway", "listPathways", "getPathwayVersion", "getPersona", "listPersonas", "listPersonaVersions",
		"listPortRequests", "getPortRequest", "getPortLetter", "downloadPortLetter",
	} {
		if !good[op] {
			p.t.Errorf("%s was not read", op)
		}
	}
}

// outside searches the answers of the paths for operators (/metrics, /readyz and /healthz) for planted texts.
func (p *prober) outside() {
	p.t.Helper()
	for _, path := range []string{"/metrics", "/readyz", "/healthz"} {
		status, text := p.s.Get(p.t, path)
		if status != http.StatusOK {
			p.t.Errorf("%s answers %d %s", path, status, text)
		}
		p.search(path, []byte(text), secretMark, privateMark, sealedMark)
	}
}

// files searches all files in a folder for secrets and sealed texts. The public text in the argument visible must occur in them, which
// proves that the data is there.
func (v *vault) files(folder, visible string) {
	v.t.Helper()
	seen := false
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		seen = seen || bytes.Contains(text, []byte(visible))
		v.search("the file "+filepath.Base(path), text, secretMark, sealedMark)
		return err
	})
	if err != nil || !seen {
		v.t.Errorf("%s: has %s: %t, %v", folder, visible, seen, err)
	}
}

// spies returns a folder with scripts that replace the speech engines. A script appends its environment to the file at the path notes, and
// then runs the real engine.
func spies(t *testing.T, notes string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"flite", "espeak-ng", "espeak"} {
		text := "#!/bin/sh\nenv >>'" + notes + "'\nPATH=${PATH#" + folder + ":}\nexec " + name + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
