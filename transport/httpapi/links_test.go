package httpapi_test

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// links are what a program that serves one area is built of, beside the core: the generated package of the area, and its domain.
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

// TestAProgramIsBuiltOfTheAreasThatItServes asks the go command what each area needs.
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
			case room == "transport" && (rest == "httpapi" || rest == "oas/internal/codec" || path.Dir(rest) == "httpapi" && (path.Base(rest) == area || strings.HasSuffix(rest, "wire"))):
			case room != "transport" && slices.Contains(allowed, room):
			default:
				t.Errorf("%s needs %s", area, dependency)
			}
		}
	}
}
