package httpapi_test

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// links maps each area to the packages that it may link in addition to the packages that all areas share. These are the area's generated
// package and its domains.
var links = map[string][]string{
	"agentsapi":    {"agentsoas", "agents", "speech"},
	"agenttestapi": {"agenttestoas", "agenttest", "agents", "speech"},
	"callsapi":     {"callsoas", "agents", "speech"},
	"pathwaysapi":  {"pathwaysoas", "agents", "speech"},
	"portingapi":   {"portingoas", "porting"},
	"sipapi":       {"sipoas", "sip"},
	"speechapi":    {"speechoas", "speech"},
	"triageapi":    {"triageoas", "triage"},
	"webhooksapi":  {"webhooksoas"},
}

// TestAProgramIsBuiltOfTheAreasThatItServes checks that each area depends on no packages of this module except those in links and the
// shared packages, and not on sipgo, swaggo or pion.
func TestAProgramIsBuiltOfTheAreasThatItServes(t *testing.T) {
	t.Parallel()
	const module = "github.com/callwright/callwright/"
	for area, allowed := range links {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"transport/httpapi/"+area).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dependency := range strings.Lines(string(out)) {
			dependency = strings.TrimSpace(dependency)
			own, ours := strings.CutPrefix(dependency, module)
			room, rest, _ := strings.Cut(own, "/")
			switch {
			case !ours && (strings.Contains(dependency, "sipgo") || strings.Contains(dependency, "swaggo") || strings.Contains(dependency, "pion")):
				t.Errorf("%s needs %s", area, dependency)
			case !ours:
			case room == "transport" && strings.HasPrefix(rest, "oas/") && slices.Contains(allowed, path.Base(rest)):
			case room == "transport" && (slices.Contains([]string{"oas", "oas/internal/codec", "httpapi", "httpapi/" + area}, rest) || path.Dir(rest) == "httpapi/internal"):
			case room != "transport" && (slices.Contains(allowed, room) || room == "node" || room == "delivery"):
			default:
				t.Errorf("%s needs %s", area, dependency)
			}
		}
	}
}
