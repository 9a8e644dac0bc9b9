package platform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/testca"
)

// TestReloadedKeyOfOthers makes the SIP key readable for other users while the server runs. The previous key must stay in use, and the log
// must contain a warning.
func TestReloadedKeyOfOthers(t *testing.T) {
	t.Parallel()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := Config{SIPCert: filepath.Join(folder, "sip.crt"), SIPKey: filepath.Join(folder, "sip.key")}
	write := func(mode os.FileMode) {
		t.Helper()
		issued, err := ca.Issue("localhost")
		if err != nil {
			t.Fatal(err)
		}
		chain, key, err := testca.PEM(issued)
		if err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string][]byte{c.SIPCert: chain, c.SIPKey: key} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(c.SIPKey, mode); err != nil {
			t.Fatal(err)
		}
	}
	write(0o600)
	id, err := newIdentity(fxtest.NewLifecycle(t), c, ca, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		all, _ := id.Certificates()
		return string(all[0].Certificate[0])
	}
	before := shown()
	write(0o640)
	id.Reload(t.Context())
	if w := strings.Join(id.Warnings(), "|"); shown() != before || !strings.Contains(w, "chmod 600") {
		t.Errorf("changed: %t, warnings %q", shown() != before, w)
	}
	if err := os.Chmod(c.SIPKey, 0o600); err != nil {
		t.Fatal(err)
	}
	id.Reload(t.Context())
	if w := strings.Join(id.Warnings(), "|"); shown() == before || strings.Contains(w, "chmod") {
		t.Errorf("changed: %t, warnings %q", shown() != before, w)
	}
}
