package settings_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/dashboard/internal/settings"
)

// TestLicenses checks that a license is known for each module that is linked into the programs on this system.
func TestLicenses(t *testing.T) {
	t.Parallel()
	if _, err := os.ReadFile("../../../../go.work"); err != nil { // reading go.work makes the test cache depend on it
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./examples/server", "./cmd/callwright")
	cmd.Dir = "../../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	known := settings.Licenses()
	for _, module := range append(strings.Fields(string(out)), "std") {
		if known[module] == "" && !strings.HasPrefix(module, "github.com/callwright/callwright/") {
			t.Errorf("%s has no licence in licenses.txt: run make generate", module)
			known[module] = "reported"
		}
	}
	if len(known) < 50 || known["std"] != "BSD-3-Clause" || known["github.com/callwright/callwright"] != "Apache-2.0" ||
		known["github.com/callwright/callwright/speech/activity/silero"] != "MIT" {
		t.Errorf("the licences are %v", known)
	}
}

func TestAbout(t *testing.T) {
	t.Parallel()
	open(t).get("/settings/about", "Go’s standard library", "<td>BSD-3-Clause</td>", "callwright/speech/activity/silero", "<td>MIT</td>", `href="/#runs"`, "Revision", "Version")
}
