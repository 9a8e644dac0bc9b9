package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/internal/e2e/process"
)

// seeded matches the URL and the API key that the demo prints.
var seeded = regexp.MustCompile(`Open   (http://\S+)/\n  Key    (\S+)\n`)

// TestDemoServer checks that "demo -serve" creates everything that it prints. After an interrupt, it must leave nothing in the temporary
// folder.
func TestDemoServer(t *testing.T) {
	t.Parallel()
	program, scratch := filepath.Join(t.TempDir(), "demo"), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../examples/demo").CombinedOutput(); err != nil {
		t.Fatalf("building the demo: %v\n%s", err, out)
	}
	c := exec.CommandContext(t.Context(), program, "-serve", "-addr", "127.0.0.1:0", "-sip-addr", "127.0.0.1:0")
	c.Dir = "../.."
	c.Env = append(withoutSettings(), "TMPDIR="+scratch)
	demo := process.Start(t, "the demo", c, "")
	var where []string
	if !await.Within(t.Context(), compilation, func() bool {
		where = seeded.FindStringSubmatch(demo.Log())
		return where != nil || !demo.Running()
	}) || where == nil {
		t.Fatal("the demo does not say that its server is full")
	}
	has := func(path, what string, count func(body map[string]any) int, want int) {
		t.Helper()
		await.That(t, what, func() bool { return count(readJSON(t, where[1]+path, where[2])) >= want })
	}
	list := func(names ...string) func(map[string]any) int {
		return func(body map[string]any) int {
			for _, name := range names[:len(names)-1] {
				body, _ = body[name].(map[string]any)
			}
			items, _ := body[names[len(names)-1]].([]any)
			return len(items)
		}
	}
	has("/v1/calls?limit=100", "20 calls", list("calls"), 20)
	has("/v1/agents", "an agent", list("agents"), 1)
	has("/v1/triage/issues", "an issue", list("data", "items"), 1)
	has("/v1/sip/port?status=in_progress", "a port in progress", list("data", "port_requests"), 1)
	for _, status := range []string{"PASSED", "FAILED"} {
		has("/v1/agent-testing/runs?status="+status, "a test that has "+status, list("data", "runs"), 1)
	}
	calls, _ := readJSON(t, where[1]+"/v1/calls?limit=100", where[2])["calls"].([]any)
	for _, c := range calls {
		id, _ := c.(map[string]any)["call_id"].(string)
		if recording, _ := readJSON(t, where[1]+"/v1/calls/"+id, where[2])["recording_url"].(string); recording == "" {
			t.Errorf("the call %s has no recording", id)
		}
	}
	readmePictures(t, where[1], where[2])
	if err := syscall.Kill(demo.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := demo.ExitCode(t); code != 0 {
		t.Errorf("the demo ended with %d", code)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("in the temporary folder %v is left, %v", left, err)
	}
}

// readJSON requests a URL with an API key and returns the JSON object.
func readJSON(t *testing.T, address, key string) map[string]any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body := map[string]any{}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, answer.StatusCode, err)
	}
	return body
}

// readmePictures writes the screenshots of the README.
func readmePictures(t *testing.T, dashboard, key string) {
	t.Helper()
	p := browser.Open(t, true)
	p.Resize(t, 1180, 860)
	p.Go(t, dashboard+"/")
	p.Fill(t, "API key", key)
	p.ClickText(t, "Sign in")
	p.Await(t, "#live-overview")
	p.Window(t, "readme-overview")
	p.Go(t, dashboard+"/calls?to="+"%2B12025550102")
	id := browser.Eval[string](t, p, `document.querySelector('main table a[href^="/calls/"]').getAttribute("href")`)
	p.Go(t, dashboard+id)
	p.Await(t, "audio#recording")
	browser.Eval[bool](t, p, `(document.querySelector("#talk").scrollIntoView(), true)`)
	p.Window(t, "readme-call")
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %s", strings.Join(found, "; "))
	}
}
