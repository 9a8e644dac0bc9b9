package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/cli"
)

// TestErrorsForPeople checks that usage errors name the flag or state the remedy.
func TestErrorsForPeople(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	empty := filepath.Join(t.TempDir(), "README")
	if err := os.WriteFile(empty, []byte("no key at all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"--limit x: must be a whole number":      {"samples", "list", "--limit", "x"},
		"set --name or --contact or":             {"admin", "orgs", "set", "acme"},
		"no arguments, but got 1 argument\n":     {"voices", "x"},
		"--overlap must be at most 30d":          {"admin", "webhook-secret", "rotate", "acme", "--overlap", "60d"},
		"--base-url: http would":                 {"voices", "--base-url", "http://example.com"},
		"--allow-http allows it":                 {"voices", "--base-url", "http://example.com"},
		"README: must contain the API key alone": {"voices", "--api-key-file", empty},
		"exclude each other: use only one":       {"speak", "a", "--voice", "v", "--server-voice"},
	} {
		if code, out, errs := m.run(t.Context(), nil, "", "", args...); code != cli.ExitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d, %q, %q, want %q", args, code, out, errs, want)
		}
	}
	if code, out, errs := m.run(t.Context(), nil, "", "", "--version"); code != 0 || !strings.HasPrefix(out, "callwright version ") {
		t.Errorf("--version: exit code %d, %q, %q", code, out, errs)
	}
}

// TestRefusalsForPeople checks that errors contain the server's message or state the cause, name the flag that the server refuses, and have
// the right exit code.
func TestRefusalsForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		code, path string
		args       []string
		want       string
		exit       int
	}{
		{400, "BAD_REQUEST", "output_format", []string{"speak", "a", "--format", "mp3"}, "callwright: --format: says no (POST /v1/speak: 400 BAD_REQUEST)\n", cli.ExitRefused},
		{403, "FORBIDDEN", "", []string{"delete", "slt", "--yes"}, "callwright: says no (DELETE /v1/voices/slt: 403 FORBIDDEN)\n", cli.ExitRefused},
		{403, "FORBIDDEN", "", []string{"rename", "slt", "foo"}, "callwright: says no (PATCH /v1/voices/slt: 403 FORBIDDEN)\n", cli.ExitRefused},
		{403, "FORBIDDEN", "", []string{"voices"}, "callwright: says no (GET /v1/voices: 403 FORBIDDEN)\n", cli.ExitUnauthorized},
		{503, "UNAVAILABLE", "", []string{"speak", "a"}, "callwright: says no (POST /v1/speak: 503 UNAVAILABLE)\n", cli.ExitUnavailable},
		{429, "TOO_MANY_REQUESTS", "", []string{"voices"}, "429 TOO_MANY_REQUESTS)\ntry again later\n", cli.ExitUnavailable},
		{200, "", "", []string{"trunks", "show", "+14155550100"}, "callwright: the number has no trunk", cli.ExitRefused},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			text := `{"data":null,"errors":[{"error":"` + c.code + `","message":"says no","path":"` + c.path + `"}]}`
			if c.status == 200 {
				text = `{"data":{"inbound":null,"outbound":null},"errors":null}`
			}
			_, _ = io.WriteString(w, text)
		}))
		m := &mouth{t: t, url: s.URL}
		code, out, errs := m.run(t.Context(), nil, "", "", c.args...)
		s.Close()
		if code != c.exit || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d, %q, %q, want %q", c.args, code, out, errs, c.want)
		}
	}
}

// TestSecretsInFiles checks that -o writes only the new secret, and only to a file that did not exist.
func TestSecretsInFiles(t *testing.T) {
	t.Parallel()
	admin := administration(t)
	for _, args := range [][]string{{"keys", "create", "ci", "--org", "acme"}, {"webhook-secret", "rotate", "acme"}} {
		file := filepath.Join(t.TempDir(), "secret")
		var out bytes.Buffer
		code, errs := admin(&out, append(args, "-o", file)...)
		raw, err := os.ReadFile(file)
		secret := strings.TrimSpace(string(raw))
		if code != 0 || err != nil || len(secret) < 20 || strings.Contains(out.String(), secret) || !strings.Contains(out.String(), file) {
			t.Errorf("%v: exit code %d, %v, %q, %s%s", args, code, err, raw, out.String(), errs)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v: %v, %v", args, info, err)
		}
		if code, errs := admin(&out, append(args, "-o", file)...); code != cli.ExitUsage || !strings.Contains(errs, "not replaced") {
			t.Errorf("%v again: exit code %d, %s", args, code, errs)
		}
		if again, err := os.ReadFile(file); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%v again: %q, %v", args, again, err)
		}
	}
	file := filepath.Join(t.TempDir(), "secret")
	var out bytes.Buffer
	if code, _ := admin(&out, "keys", "create", "ci", "--org", "nobody", "-o", file); code != cli.ExitRefused {
		t.Errorf("of an organization that is absent: exit code %d", code)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}

// TestSpeakChecksItsFileFirst checks that the text is not synthesized if the output file cannot be written.
func TestSpeakChecksItsFileFirst(t *testing.T) {
	t.Parallel()
	m := newMouth(t)
	code, _, errs := m.run(t.Context(), nil, "", "", "speak", "a", "-o", filepath.Join(t.TempDir(), "none", "x.wav"))
	if code != cli.ExitRefused || m.asked != nil || !strings.Contains(errs, "x.wav: no such file") || strings.Contains(errs, ".part") {
		t.Errorf("exit code %d, %v, %q", code, m.asked, errs)
	}
}
