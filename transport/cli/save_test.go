package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/cli"
)

func TestOutputKeepsModesAndRefusesLinks(t *testing.T) {
	t.Parallel()
	m, folder := newMouth(t), t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	code, _, errs := m.run(t.Context(), nil, "", "", "speak", "a", "-o", link)
	if text, err := os.ReadFile(file); code != cli.ExitUsage || !strings.Contains(errs, "is a link: name the file itself") || string(text) != "old" {
		t.Errorf("a link: exit code %d, %q; its target has %q, %v", code, errs, text, err)
	}
	if code, _, errs = m.run(t.Context(), nil, "", "", "speak", "a", "-o", file); code != 0 {
		t.Errorf("exit code %d, %q", code, errs)
	}
	text, err := os.ReadFile(file)
	info, statErr := os.Lstat(file)
	if err != nil || statErr != nil || string(text) != m.audio || info.Mode() != 0o600 {
		t.Errorf("got %q with mode %v", text, info.Mode())
	}
}

func TestServersWriteNoLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"data":null,"errors":[{"error":"AUTH_FAILURE","message":"bad\r\ncallwright: all is well\nmore"}]}`)
	}))
	defer s.Close()
	m := newMouth(t)
	m.url = s.URL
	code, _, errs := m.run(t.Context(), nil, "", "", "speak", "a", "--server-voice")
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	if code != cli.ExitUnauthorized || len(lines) != 2 || !strings.Contains(lines[0], "more") || !strings.HasPrefix(lines[1], "the server does not accept the key") {
		t.Errorf("exit code %d, %q", code, errs)
	}
}
