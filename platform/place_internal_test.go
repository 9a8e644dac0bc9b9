package platform

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
)

// TestPlaceRefusals checks the errors for folders, files and addresses that are invalid or in use. Each must name the flag and the remedy.
func TestPlaceRefusals(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	listen := func(addr string) error {
		_, err := newListener(fxtest.NewLifecycle(t), Config{Addr: addr}, shares{}, newSelf(), callwright.Runtime{})
		return err
	}
	take := func(c Config) error {
		held, err := lockFolder(c)
		_ = held.Close()
		return err
	}
	foreign := netip.MustParseAddr("203.0.113.77") // TEST-NET-3, RFC 5737
	_, media := newMedia(Config{MediaIP: foreign, PublicIP: foreign}, callwright.Runtime{})
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"an address in use":       {listen(taken.Addr().String()), []string{"--addr " + taken.Addr().String(), "another program", "another port"}},
		"a foreign address":       {listen("203.0.113.77:0"), []string{"--addr 203.0.113.77:0", "this machine does not have"}},
		"a folder in a file":      {take(Config{Data: filepath.Join(file, "x")}), []string{"--data " + file, "name a folder"}},
		"a file for a folder":     {take(Config{Data: file}), []string{"--data " + file, "name a folder"}},
		"no folder of a database": {take(Config{Data: t.TempDir(), DatabaseURL: "sqlite:/nope/dir/x.db"}), []string{"--database-url sqlite:/nope/dir/x.db", "/nope/dir", "create it"}},
		"a foreign media address": {media, []string{"--media-ip 203.0.113.77", "this machine does not have"}},
	} {
		if test.err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(test.err.Error(), want) || strings.Contains(test.err.Error(), ".lock") {
				t.Errorf("%s gave %q, want %q in it", name, test.err, want)
			}
		}
	}
}
