package arch

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// domains lists the folders of the domains: packages with rules, state machines and ports.
var domains = []string{"sip", "porting", "agents", "agenttest", "speech", "triage"}

// rootSuite is the folder of the conformance suites of the root package's ports, and of code that the domains' suites share. The import
// rules of a domain apply to it.
const rootSuite = "callwrighttest"

// shared contains the packages that domains, adapters and transport may import in addition to the root. The value of a package is the other
// shared package that it may import itself, or "".
var shared = map[string]string{"node": "", "delivery": "node"}

// bridges lists the only allowed imports between domains. The package in the field from may import the package in the field to. Both
// include all packages below them.
var bridges = []struct{ from, to string }{
	{"agenttest", "agents/llm"},
	{"agenttest", "agents/pathway"},
	{"agenttest", "agents/persona"},
	{"agenttest/runner", "agents/conversation"},
	{"agenttest/runner", "agents/handover"},
	{"agenttest/runner", "agents/prompted"},
	{"agenttest/runner", "agents/request"},
	{"agenttest/runner", "agents/tool"},
	{"agenttest/agenttesttest", "agents/agentstest"},
	{"agents", "speech/tts"},
	{"agents/agentstest", "speech/speechtest"},
	{"agents", "speech/activity"},
	{"agents", "speech/intonation"},
	{"agents", "speech/ambience"},
	{"agents/agentstest", "speech/pcm"},
	{"agents/call", "speech/pcm"},
	{"agents/conversation", "speech/pcm"},
	{"triage/analyst", "agents/llm"},
}

// owners lists libraries that only one package of the product, and the packages below it, may import.
var owners = []struct{ library, home string }{
	{"go.uber.org/fx", "platform"},
	{"github.com/emiago/sipgo", "adapters/sipua"},
	{"github.com/pion", "adapters/sipua/rtpmedia"},
	{"github.com/thesyncim/gopus", "adapters/codec/opus"},
	{"github.com/hajimehoshi/go-mp3", "adapters/audiofile"},
	{"github.com/jfreymuth/vorbis", "adapters/audiofile"},
	{"github.com/aws", "adapters/s3blobs"},
	{"github.com/google/jsonschema-go", "transport/mcp"}, // required by the SDK; elsewhere santhosh-tekuri/jsonschema checks schemas
}

// programs lists the folders of programs.
var programs = []string{"examples", "cmd"}

// product is the folder that connects all others. Only programs import it.
const product = "platform"

// heavy lists packages that require a large library. Only tests, programs and the platform, which choose the adapters, may import them.
var heavy = []string{"adapters/codec/opus"}

// guests lists adapters in the module of another adapter, because the same programs use both. They may import only the internal packages of
// that module.
var guests = []string{"adapters/bunstore/riverwork", "adapters/sipua/rtpmedia"}

// layers lists packages that may import only the given neighbors of the same adapter. Packages of calls import packages of connections,
// which import packages of messages.
var layers = []struct{ dir, neighbors string }{
	{"adapters/sipua/internal/message", ""},
	{"adapters/sipua/internal/mailbox", ""},
	{"adapters/sipua/internal/peer", ""},
	{"adapters/sipua/internal/source", ""},
	{"adapters/sipua/internal/auth", "message"},
	{"adapters/sipua/internal/attempt", "mailbox message"},
	{"adapters/sipua/internal/transport", "message peer source"},
	{"adapters/sipua/internal/binding", "auth message peer transport"},
	{"adapters/sipua/internal/tone", ""},
	{"adapters/sipua/internal/leg", "attempt auth mailbox message tone transport"},
	{"adapters/sipua/probe", "internal/peer"},
}

// stores lists the subpackages of stores, each with the only domain that it may import. The other packages of a store import no domain, so
// that a program links only the domains that it uses.
var stores = []struct{ dir, domain string }{
	{"adapters/bunstore/agentstore", "agents"},
	{"adapters/bunstore/agentteststore", "agenttest"},
	{"adapters/bunstore/portingstore", "porting"},
	{"adapters/bunstore/sipstore", "sip"},
	{"adapters/bunstore/speechstore", "speech"},
	{"adapters/bunstore/triagestore", "triage"},
	{"adapters/memstore/agentstore", "agents"},
	{"adapters/memstore/agentteststore", "agenttest"},
	{"adapters/memstore/portingstore", "porting"},
	{"adapters/memstore/sipstore", "sip"},
	{"adapters/memstore/speechstore", "speech"},
	{"adapters/memstore/triagestore", "triage"},
}

// pure lists the libraries that a domain may import. They compute, but use no network, storage or telemetry.
var pure = []string{
	"golang.org/x/sync", "golang.org/x/text", "golang.org/x/time", "go.yaml.in/yaml/v3",
	"gonum.org/v1/gonum", "github.com/ohler55/ojg/jp", "github.com/santhosh-tekuri/jsonschema/v6",
}

// proving lists further libraries for the conformance suites of domains, whose package names end in "test".
var proving = []string{"go.uber.org/goleak", "pgregory.net/rapid"}

// unfit lists packages of the standard library that domains must not import. Adapters and transport use them.
var unfit = []string{"net/http", "database/sql"}

// checkImports reports the forbidden imports of a file. Tests may import any package except fx, which belongs to the platform.
func checkImports(p *pkg, f *goFile) []Violation {
	var found []Violation
	for _, spec := range f.syntax.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // impossible: the parser has accepted the import path
		}
		reason := owned(p.dir, target, f.test)
		if reason == "" && !f.test {
			reason = refused(p.dir, target)
		}
		if reason != "" {
			found = append(found, Violation{f.path, f.line(spec.Pos()), "imports " + target + ": " + reason})
		}
	}
	return found
}

// owned returns the reason why a package may not import a library outside of the library's home, or "" if it may.
func owned(dir, target string, test bool) string {
	for _, o := range owners {
		if within(target, o.library) && !within(dir, o.home) && (!test || o.home == "platform") {
			return "only " + o.home + " uses " + o.library
		}
	}
	return ""
}

// refused returns the reason why a package may not import another one, or "" if it may.
func refused(dir, target string) string {
	room, inside := top(dir), within(target, module)
	to := strings.TrimPrefix(strings.TrimPrefix(target, module), "/")
	if inside {
		if reason := refusedChoice(room, to); reason != "" {
			return reason
		}
	}
	switch {
	case dir == ".":
		if !standard(target) {
			return "the root package imports the standard library only"
		}
	case isShared(dir):
		return refusedToShared(dir, target, to)
	case slices.Contains(domains, room), room == rootSuite:
		if inside {
			return refusedToDomain(dir, to)
		}
		return refusedLibrary(dir, target)
	case room == "adapters" && inside:
		return refusedToAdapter(dir, to)
	case room == "examples", room == product:
		if inside && top(to) == "internal" {
			return "examples and the platform can be copied into other repositories: they import nothing internal"
		}
	case room == "access":
		if inside && to != "" {
			return "access knows organizations and their keys, and imports the root package only"
		}
	case room == "transport" && inside:
		if top(to) == "adapters" {
			return "transport never imports adapters: the wiring joins them"
		}
		return refusedToArea(dir, to)
	}
	return ""
}

// refusedToShared returns the reason why a shared package may not import another package, or "" if it may.
func refusedToShared(dir, target, to string) string {
	if within(target, module) && (to == "" || to == shared[dir]) || standard(target) {
		return ""
	}
	return "packages that all domains share import the standard library and the root package only, and delivery node"
}

// isShared reports whether a package is in shared, so that all domains may import it.
func isShared(dir string) bool {
	_, is := shared[dir]
	return is
}

// refusedChoice returns the reason why packages of a top-level folder may not import a program, the platform or a heavy adapter, or "" if
// they may.
func refusedChoice(room, to string) string {
	program := slices.Contains(programs, room)
	switch {
	case slices.Contains(programs, top(to)) && room != top(to):
		return "nobody imports programs"
	case slices.Contains(heavy, to) && room != product && !program:
		return "only programs and the platform choose it: it brings a large library"
	case within(to, product) && room != product && !program:
		return "only programs import the platform"
	}
	return ""
}

// httpapi is the folder of the HTTP API's core. Each area has a package below it, such as triageapi. An area imports only its own generated
// package, such as transport/oas/triageoas.
const httpapi = "transport/httpapi"

// refusedToArea returns the reason why a package of the HTTP API may not import another package of this module, or "" if it may.
func refusedToArea(dir, to string) string {
	area, isArea := strings.CutSuffix(path.Base(dir), "api")
	isArea = isArea && path.Dir(dir) == httpapi
	switch {
	case dir == httpapi && (slices.Contains(domains, top(to)) || path.Dir(to) == generatedHome):
		return "the core of the HTTP API knows no domain and no area, so that a program has those that it serves"
	case isArea && to != dir && path.Dir(to) == httpapi && strings.HasSuffix(to, "api"):
		return "areas don't import each other: what two of them need is a package beside them"
	case isArea && within(to, generatedHome) && to != path.Join(generatedHome, area+"oas"):
		return "an area uses the generated package of its own name only"
	case within(dir, httpapi) && dir != httpapi && !isArea && within(to, generatedHome):
		return "only areas use generated code, each its own"
	}
	return ""
}

// refusedLayer reports whether layers forbids the import of a neighbor.
func refusedLayer(dir, to string) bool {
	for _, l := range layers {
		if l.dir == dir && unit(to) == unit(dir) {
			return !slices.ContainsFunc(strings.Fields(l.neighbors), func(n string) bool { return to == path.Join(path.Dir(dir), n) })
		}
	}
	return false
}

// refusedToStore reports whether a package of a store must not import another package: a foreign domain, or the subpackage of a foreign
// domain.
func refusedToStore(dir, to string) bool {
	own, isStore := "", false
	for _, s := range stores {
		if within(dir, s.dir) {
			own = s.domain
		}
		if within(to, s.dir) && !within(dir, s.dir) && unit(dir) == unit(to) {
			return true
		}
		isStore = isStore || unit(dir) == unit(s.dir)
	}
	return isStore && slices.Contains(domains, top(to)) && top(to) != own
}

// refusedToDomain returns the reason why a domain's package may not import another package of this module, or "" if it may.
func refusedToDomain(dir, to string) string {
	if to == "" || isShared(to) || top(to) == top(dir) || to == rootSuite && strings.HasSuffix(path.Base(dir), "test") {
		return ""
	}
	for _, b := range bridges {
		if within(dir, b.from) && within(to, b.to) {
			return ""
		}
	}
	if slices.Contains(domains, top(to)) {
		return "domains don't import each other: declare a small interface here and join them in the wiring"
	}
	return "a domain imports the root package, node, delivery and its own sub-packages only"
}

// refusedToAdapter returns the reason why an adapter may not import another package of this module, or "" if it may.
func refusedToAdapter(dir, to string) string {
	switch {
	case top(to) == "adapters" && unit(dir) != unit(to) && !within(to, path.Join(path.Dir(unit(dir)), "internal")):
		return "adapters never import each other: they meet in a port"
	case top(to) == "transport":
		return "adapters never import transport"
	case refusedToStore(dir, to):
		return "a store knows one domain: see stores in internal/arch/imports.go"
	case refusedLayer(dir, to):
		return "the layers in internal/arch/imports.go go one way"
	}
	return ""
}

// refusedLibrary returns the reason why a domain's package may not import a library, or "" if it may.
func refusedLibrary(dir, target string) string {
	if standard(target) {
		if slices.ContainsFunc(unfit, func(library string) bool { return within(target, library) }) {
			return "domains don't know HTTP or SQL: put a port between"
		}
		return ""
	}
	allowed := pure
	if strings.HasSuffix(path.Base(dir), "test") {
		allowed = slices.Concat(pure, proving)
	}
	if slices.ContainsFunc(allowed, func(library string) bool { return within(target, library) }) {
		return ""
	}
	return "domains use the standard library and small pure libraries (listed in internal/arch/imports.go): put a port between"
}

// standard reports whether an import path belongs to the standard library, whose paths contain no dot in their first element.
func standard(target string) bool { return !strings.Contains(top(target), ".") }

// top returns the first element of a path.
func top(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

// unit returns the adapter of a path: a guest, or else the first two elements.
func unit(p string) string {
	for _, g := range guests {
		if within(p, g) {
			return g
		}
	}
	elements := strings.SplitN(p, "/", 3)
	return path.Join(elements[:min(2, len(elements))]...)
}
