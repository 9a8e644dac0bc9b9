package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/porting/loa"
)

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// evidence writes two PDFs and the evidence of a letter that Robin Doe has signed, and returns the names of the three files. change, if not
// nil, modifies the evidence before it is written.
func evidence(t *testing.T, change func(*loa.Evidence)) (file, letter, signed string) {
	t.Helper()
	at, folder := time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC), t.TempDir()
	e := loa.Evidence{Request: "port_1", SHA256: hashOf([]byte("letter")), SignedSHA256: hashOf([]byte("signed letter"))}
	for i, event := range []loa.Event{
		{Kind: loa.EventCreated, SHA256: e.SHA256},
		{Kind: loa.EventSigned, SHA256: e.SHA256, Name: "Robin Doe", Disclosure: loa.Disclosure},
		{Kind: loa.EventSealed, SHA256: e.SignedSHA256},
	} {
		event.Number, event.At, event.Previous = i+1, at.Add(time.Duration(i)*time.Minute), e.Head
		event.Hash = hashOf(event.Canonical())
		e.Events, e.Head = append(e.Events, event), event.Hash
	}
	if change != nil {
		change(&e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("evidence.json", text), write("letter.pdf", []byte("letter")), write("signed.pdf", []byte("signed letter"))
}

func TestPortsVerify(t *testing.T) {
	t.Parallel()
	file, letter, signed := evidence(t, nil)
	code, out, errs := callwright(t, "ports", "verify", file, "--letter", letter, "--signed", signed)
	if code != 0 || errs != "" || !strings.Contains(out, "by Robin Doe at 2026-03-02T09:09:07Z") || !strings.Contains(out, signed+" is the PDF") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	text := out
	if !strings.Contains(out, "none missing before the head") || !strings.Contains(out, "not covered by the hashes") {
		t.Errorf("it does not say what it cannot prove:\n%s", out)
	}
	code, out, _ = callwright(t, "ports", "verify", file, "--signed", signed, "--json")
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || v["signed_by"] != "Robin Doe" || v["signed_letter_checked"] != true || v["letter_checked"] != false {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
	hash, _ := v["signed_event_hash"].(string)
	if v["signed_event"] != 2.0 || len(hash) != 64 || hash == v["head"] || !strings.Contains(text, "shows the hash of event 2: "+hash) {
		t.Errorf("the signature is not event 2 with its hash: %s\n%s", out, text)
	}
}

// rewritten applies change to the text of a file, and writes the result to another file.
func rewritten(t *testing.T, file string, change func(text string) string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(change(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return other
}

// answered returns the API's answer that contains the evidence.
func answered(evidence string) string {
	return `{"data":{"letter":{"state":"signed","sha256":"00"},"evidence":` + evidence + "},\"errors\":null}\n"
}

func TestPortsVerifyReadsTheAnswer(t *testing.T) {
	t.Parallel()
	whole, _, signed := evidence(t, nil)
	code, want, _ := callwright(t, "ports", "verify", whole, "--signed", signed)
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, want)
	}
	code, out, errs := callwright(t, "ports", "verify", rewritten(t, whole, answered), "--signed", signed)
	if code != 0 || out != want {
		t.Errorf("exit code %d, %s\n%s, want what the evidence gives alone:\n%s", code, errs, out, want)
	}
	changed, _, _ := evidence(t, func(e *loa.Evidence) { e.Events[1].Name = "Someone Else" })
	code, out, errs = callwright(t, "ports", "verify", rewritten(t, changed, answered))
	if code != 1 || out != "" || !strings.Contains(errs, "event 2 was changed") {
		t.Errorf("exit code %d, %s%s", code, errs, out)
	}
}

// TestPortsVerifyKnowsEvidence checks that a file is a usage error if it contains neither exactly one evidence nor the API's answer with
// one. Changed evidence is another error.
func TestPortsVerifyKnowsEvidence(t *testing.T) {
	t.Parallel()
	whole, _, _ := evidence(t, nil)
	with := func(before, after string) func(string) string {
		return func(text string) string { return strings.Replace(text, before, after, 1) }
	}
	for name, change := range map[string]func(text string) string{
		"an empty object":            func(string) string { return `{}` },
		"null":                       func(string) string { return `null` },
		"a list":                     func(text string) string { return "[" + text + "]" },
		"an answer without evidence": func(string) string { return answered("null") },
		"an error":                   func(string) string { return `{"data":null,"errors":[{"error":"NOT_FOUND","message":"x"}]}` },
		"the data of an answer":      func(text string) string { return `{"letter":{},"evidence":` + text + `}` },
		"another answer":             func(text string) string { return `{"data":{"port_request":{},"evidence":` + text + `}}` },
		"an answer with more":        func(text string) string { return `{"more":1,"data":{"evidence":` + text + `}}` },
		"an answer in capitals":      func(text string) string { return `{"data":{"evidence":{},"EVIDENCE":` + text + `}}` },
		"an answer in an answer":     func(text string) string { return answered(answered(text)) },
		"two":                        func(text string) string { return text + text },
		"two answers":                func(text string) string { return answered(text) + answered(text) },
		"an unknown member":          with(`{`, `{"note":"x",`),
		"an unknown member within":   with(`{"number":2`, `{"note":"x","number":2`),
		"half":                       func(text string) string { return text[:len(text)/2] },
		"nothing":                    func(string) string { return "" },
	} {
		code, out, errs := callwright(t, "ports", "verify", rewritten(t, whole, change))
		if code != 2 || out != "" || !strings.Contains(errs, "this is not the evidence of a letter") {
			t.Errorf("%s: exit code %d: %s%s", name, code, errs, out)
		}
	}
}

func TestPortsVerifyWithCopies(t *testing.T) {
	t.Parallel()
	var hashes []string
	file, _, _ := evidence(t, func(e *loa.Evidence) {
		for _, event := range e.Events {
			hashes = append(hashes, event.Hash)
		}
	})
	cut, _, _ := evidence(t, func(e *loa.Evidence) { e.Events, e.SignedSHA256, e.Head = e.Events[:1], "", e.Events[0].Hash })
	code, out, errs := callwright(t, "ports", "verify", file, "--head", hashes[2], "--certificate", strings.ToUpper(hashes[1]))
	if code != 0 || !strings.Contains(out, "none missing up to event 3") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	code, out, _ = callwright(t, "ports", "verify", file, "--certificate", hashes[1], "--json")
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || v["proved_up_to"] != 2.0 {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
	for _, args := range [][]string{{"--head", hashes[2]}, {"--certificate", hashes[1]}} {
		if code, out, errs := callwright(t, append([]string{"ports", "verify", cut}, args...)...); code != 1 || out != "" || !strings.Contains(errs, "belongs to another letter") {
			t.Errorf("%s of what was cut off: exit code %d, %s%s", args[0], code, errs, out)
		}
	}
	for _, flag := range []string{"--head", "--certificate"} {
		if code, _, errs := callwright(t, "ports", "verify", file, flag, "x"); code != 2 || !strings.Contains(errs, flag+" must be a SHA-256") {
			t.Errorf("%s x: exit code %d, %s", flag, code, errs)
		}
	}
}

func TestPortsVerifyRefuses(t *testing.T) {
	t.Parallel()
	whole, letter, signed := evidence(t, nil)
	changed, _, _ := evidence(t, func(e *loa.Evidence) { e.Events[1].Name = "Someone Else" })
	cut, _, _ := evidence(t, func(e *loa.Evidence) { e.Events = e.Events[:2] })
	for name, test := range map[string]struct {
		code int
		want string
		args []string
	}{
		"a changed event":    {1, "event 2 was changed", []string{changed}},
		"a missing event":    {1, "event 3 is missing", []string{cut}},
		"another letter":     {1, "the letter is not the PDF", []string{whole, "--letter", signed}},
		"another signed one": {1, "the signed letter is not the PDF", []string{whole, "--signed", letter}},
		"no file":            {2, "no such file", []string{whole + ".absent"}},
		"no PDF":             {2, "no such file", []string{whole, "--signed", whole + ".absent"}},
		"no evidence":        {2, "this is not the evidence of a letter", []string{letter}},
		"nothing":            {2, "the file of the evidence", nil},
	} {
		code, out, errs := callwright(t, append([]string{"ports", "verify"}, test.args...)...)
		if code != test.code || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%s: exit code %d, want %d: %s%s", name, code, test.code, errs, out)
		}
	}
}

// TestPortsVerifyPrintsNoControls checks that control characters in untrusted texts are escaped in the output and in errors.
func TestPortsVerifyPrintsNoControls(t *testing.T) {
	t.Parallel()
	const hostile = "port\x1b[2J\u009b1A\u202e\u2028\U000e0001\tx\nEvents"
	file, _, signed := evidence(t, func(e *loa.Evidence) { e.Request = hostile })
	other, _, _ := evidence(t, func(e *loa.Evidence) { e.Request, e.Events, e.SHA256 = hostile, nil, hostile })
	const want = `port\u001b[2J\u009b1A\u202e\u2028\udb40\udc01`
	for name, args := range map[string][]string{"text": {file}, "JSON": {file, "--json"}} {
		code, out, errs := callwright(t, append([]string{"ports", "verify", "--signed", signed}, args...)...)
		if code != 0 || strings.ContainsAny(out, "\x1b\u009b\u202e\u2028\U000e0001\t") || !strings.Contains(out, want) || strings.Contains(out, "\nEvents\n") {
			t.Errorf("%s: exit code %d, %s\n%q", name, code, errs, out)
		}
	}
	for _, args := range [][]string{{other}, {file, "--head", hostile}, {hostile}} {
		code, out, errs := callwright(t, append([]string{"ports", "verify"}, args...)...)
		if code == 0 || out != "" || strings.ContainsAny(errs, "\x1b\u009b\u202e\u2028\U000e0001") {
			t.Errorf("%q: exit code %d, %s%q", args, code, out, errs)
		}
	}
	var v map[string]any
	_, out, _ := callwright(t, "ports", "verify", file, "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil || v["port_request_id"] != hostile {
		t.Errorf("the JSON has %q, %v", v["port_request_id"], err)
	}
}
