// Package server runs the reference server for end-to-end tests: it builds it once a test process, starts it on free
// ports of 127.0.0.1 with a data folder that is given or its own, and talks to its API through the generated client.
package server

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/process"
)

// program is the package of the server.
const program = "github.com/callwright/callwright/examples/server"

// polling is in the lines that the server logs for tests that wait for a call's record to change.
const polling = "method=GET"

// The programs, which are built into a folder that Main deletes.
var (
	buildServer  = builder("server", program)
	buildCommand = builder("callwright", "github.com/callwright/callwright/cmd/callwright")
)

// builder returns a function that builds a program once.
func builder(name, source string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		folder, err := folder()
		if err != nil {
			return "", err
		}
		path := filepath.Join(folder, name)
		build := exec.Command("go", "build", "-o", path, source) //nolint:noctx // go test bounds the time of all tests
		if output, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", name, err, output)
		}
		return path, nil
	})
}

// folder makes the folder for built programs.
var folder = sync.OnceValues(func() (string, error) {
	if err := look(); err != nil {
		return "", fmt.Errorf("looking for the programs' source: %w", err)
	}
	folder, err := os.MkdirTemp("", "callwright-e2e-")
	built = folder
	return folder, err
})

// Command returns the path of the command line.
func Command(t testing.TB) string {
	t.Helper()
	path, err := buildCommand()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built is the folder that was made.
var built string

// look opens every folder of this module. go test remembers the files that a test has opened: when a file there changes, which
// the tests' own imports don't tell, it does not take the tests' old results for new ones.
func look() error {
	module, err := exec.Command("go", "env", "GOMOD").Output() //nolint:noctx // go test bounds the time of all tests
	if err != nil {
		return err
	}
	root := filepath.Dir(strings.TrimSpace(string(module)))
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != root && (entry.Name() == "data" || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		return err
	})
}

// Main runs the tests and deletes the programs that were built for them. A package that starts servers calls it from its TestMain.
func Main(m *testing.M) int {
	defer func() {
		if built != "" {
			_ = os.RemoveAll(built)
		}
	}()
	return m.Run()
}

// Config configures a server. The zero Config starts a new one.
type Config struct {
	Data  string   // its data folder, such as the folder of an earlier server; empty: a new one
	Roots string   // a PEM file of further roots that peers may chain to
	Flags []string // further flags
	Key   string   // of the API, for a server beside others on one database: only the first one makes a key
	Env   []string // variables that extend or override the environment of the tests, which has no CALLWRIGHT_ variables
	Files int      // maximum number of open files; 0: the limit of the tests
}

// Server is a running reference server.
type Server struct {
	*process.Process

	API       API
	Key       string // of the API
	URL       string // of the API
	Dashboard string // its URL, without a slash at its end
	SIP       netip.AddrPort
	CA        string // the PEM file of the root that its certificate chains to

	Data string
}

// file is the server.json that the server writes when it is ready.
type file struct {
	APIURL       string `json:"api_url"`
	SIPURI       string `json:"sip_uri"`
	CAFile       string `json:"ca_file"`
	APIKeyFile   string `json:"api_key_file"`
	DashboardURL string `json:"dashboard_url"`
	PID          int    `json:"pid"`
}

// Start starts a server and waits until it is ready. The test's end kills it.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	s := &Server{Data: c.Data, Process: start(t, c)}
	s.open(t, s.ready(t), c.Key)
	return s
}

// start starts the program.
func start(t testing.TB, c Config) *process.Process {
	t.Helper()
	path, err := buildServer()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--data", c.Data, "--addr", "127.0.0.1:0", "--sip-addr", "127.0.0.1:0", "--rtp-ports", "0-0"}
	if c.Roots != "" {
		args = append(args, "--sip-roots", c.Roots)
	}
	args = append(args, c.Flags...)
	if c.Files > 0 {
		path, args = "sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, c.Files), path}, args...)
	}
	cmd := exec.Command(path, args...) //nolint:noctx // the test's cleanup ends it
	cmd.Env = append(environment(), c.Env...)
	return process.Start(t, "the server", cmd, polling)
}

// StartTwo starts two servers on one database, each with a data folder of its own.
func StartTwo(t testing.TB, c Config) (one, two *Server) {
	t.Helper()
	one = Start(t, c)
	c.Data, c.Key = "", one.Key
	return one, Start(t, c)
}

// Refused starts a server that does not become ready, and returns its output.
func Refused(t testing.TB, c Config) string {
	t.Helper()
	p := start(t, c)
	if code := p.ExitCode(t); code == 0 {
		t.Error("the server ended with exit code 0")
	}
	return p.Log()
}

// environment returns the environment of the tests without variables that have the server's prefix. The server refuses
// variables of test suites, because they are none of its settings.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "CALLWRIGHT_") })
}

// ready waits for the server's file. It ignores the file of an earlier, killed server.
func (s *Server) ready(t testing.TB) (f file) {
	t.Helper()
	await.That(t, "the server to be ready", func() bool {
		if !s.Running() {
			t.Fatal("the server has ended instead of becoming ready")
		}
		text, err := os.ReadFile(filepath.Join(s.Data, "server.json"))
		return err == nil && json.Unmarshal(text, &f) == nil && f.PID == s.PID()
	})
	return f
}

// open sets the fields from the server's file.
func (s *Server) open(t testing.TB, f file, key string) {
	t.Helper()
	if f.APIKeyFile != "" {
		text, err := os.ReadFile(f.APIKeyFile)
		if err != nil {
			t.Fatal(err)
		}
		key = strings.TrimSpace(string(text))
	}
	var err error
	s.Key, s.URL, s.Dashboard, s.CA = key, f.APIURL, strings.TrimSuffix(f.DashboardURL, "/"), f.CAFile
	s.API = newAPI(t, s.URL, keyed(s.Key))
	// sip:HOST:PORT;transport=tls
	hostport, _, _ := strings.Cut(strings.TrimPrefix(f.SIPURI, "sip:"), ";")
	if s.SIP, err = netip.ParseAddrPort(hostport); err != nil {
		t.Fatalf("sip_uri %q: %v", f.SIPURI, err)
	}
}

// Number returns the URI of a number at the server.
func (s *Server) Number(number string) string { return "sip:" + number + "@" + s.SIP.String() }

// Stop asks the server to stop and waits until it has: with exit code 0, or the test fails.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.Terminate(t)
	if code := s.ExitCode(t); code != 0 {
		t.Errorf("the server stopped with exit code %d", code)
	}
}
