package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const list = "| Fault | Mended by Go |\n|---|---|\n| [GO-2026-1](https://pkg.go.dev/vuln/GO-2026-1) | 1.26.9 |\n"

func finding(id, module, mended, function string) string {
	return `{"finding":{"osv":"` + id + `","fixed_version":"` + mended + `","trace":[{"module":"` + module + `","version":"v1","package":"p","function":"` + function + `"}]}}`
}

func TestRun(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "SECURITY.md")
	if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	const scan = `{"config":{}}`
	known := finding("GO-2026-1", library, "v1.26.9", "F")
	for name, c := range map[string]struct {
		in   []string
		want string // text that the error must contain; empty means no error
	}{
		"as listed":                   {[]string{scan, known}, ""},
		"imported and not called":     {[]string{scan, known, finding("GO-2026-2", "m", "v2", "")}, ""},
		"called, by another as well":  {[]string{scan, known, finding("GO-2026-1", library, "v1.26.9", "")}, ""},
		"a module":                    {[]string{scan, known, finding("GO-2026-2", "m", "v2", "F")}, "called: GO-2026-2 in m v1, which v2 mends"},
		"a module that nothing mends": {[]string{scan, known, finding("GO-2026-2", "m", "", "F")}, "called: GO-2026-2 in m v1, which no version mends"},
		"new in the library":          {[]string{scan, known, finding("GO-2026-3", library, "v1.26.9", "F")}, "called and not listed: GO-2026-3"},
		"mended by another version":   {[]string{scan, finding("GO-2026-1", library, "v1.26.10", "F")}, "listed as mended by v1.26.9"},
		"called no more":              {[]string{scan, finding("GO-2026-1", library, "v1.26.9", "")}, "listed and called no more: GO-2026-1"},
		"no scan":                     {nil, "said nothing"},
		"a broken scan":               {[]string{scan, "{"}, "govulncheck's answer"},
	} {
		err := run([]string{file}, strings.NewReader(strings.Join(c.in, "\n")), io.Discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
