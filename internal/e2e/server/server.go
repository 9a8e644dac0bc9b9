// Package server runs the reference server for end-to-end tests. It builds the server once for each test process, starts it on free ports
// of 127.0.0.1 with a new or given data folder, and calls its API through the generated clients.
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

// program is the import path of the server.
const program = "github.com/callwright/callwright/examples/server"

// polling occurs in the log lines of requests that poll. Failed tests do not print these lines.
const polling = "method=GET"

// These functions build the programs into a folder that Main deletes.
var (
	buildServer  = builder("server", program)
	buildCommand = builder("callwright", "github.com/callwright/callwright/cmd/callwright")
	buildPhone   = builder("softphone", "github.com/callwright/callwright/examples/softphone")
)

// builder returns a function that builds a program when it is first called, and returns the program's path.
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

// folder creates the folder for built programs at its first call.
var folder = sync.OnceValues(func() (string, error) {
	if err := look(); err != nil {
		return "", fmt.Errorf("looking for the programs' source: %w", err)
	}
	folder, err := os.MkdirTemp("", "callwright-e2e-")
	built = folder
	return folder, err
})

// Command builds the command line if necessary, and returns its path.
func Command(t testing.TB) string {
	t.Helper()
	path, err := buildCommand()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Softphone builds the softphone if necessary, and starts one that trusts the server, with the given flags. It answers calls until the test
// ends. Softphone returns it with its SIP URI.
func (s *Server) Softphone(t testing.TB, flags ...string) (phone *process.Process, endpoint string) {
	t.Helper()
	path, err := buildPhone()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"--data", s.Data, "--listen", "127.0.0.1:0"}, flags...)...) //nolint:noctx // the test's cleanup ends it
	phone = process.Start(t, "the softphone", cmd, "")
	await.That(t, "the softphone to listen", func() bool {
		if !phone.Running() {
			t.Fatal("the softphone has ended instead of listening")
		}
		_, after, ok := strings.Cut(phone.Log(), "listening at ")
		endpoint, _, _ = strings.Cut(after, "\n")
		return ok && strings.Contains(after, "\n")
	})
	return phone, endpoint
}

// built is the folder for built programs, or "" if none was created.
var built string

// look opens every folder of this module. go test records which files a test opens, and runs the test again when they change. Without look,
// go test would reuse old results after a change of a program that the tests do not import.
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

// Main runs the tests, and then deletes the programs that were built. A package that starts servers must call Main from TestMain.
func Main(m *testing.M) int {
	defer func() {
		if built != "" {
			_ = os.RemoveAll(built)
		}
	}()
	return m.Run()
}

// Config configures a server. The zero Config starts a server with a new data folder.
type Config struct {
	Data  string   // data folder, perhaps of an earlier server; empty means a new folder
	Roots string   // PEM file of additional roots for the certificates of peers
	Flags []string // additional flags
	Key   string   // API key of a server that shares the database of another one, because only the first server creates a key
	Env   []string // added to the environment of the tests, from which CALLWRIGHT_ variables are removed
	Files int      // maximum number of open files; 0 means the limit of the test process
}

// Server is a running reference server with clients of its API.
type Server struct {
	*process.Process

	API       API
	Key       string // API key
	URL       string // base URL of the API
	Dashboard string // URL of the dashboard, without a trailing slash
	SIP       netip.AddrPort
	CA        string // PEM file of the root of the server's certificate

	Data string
}

// file is the content of server.json, which the server writes when it is ready.
type file struct {
	APIURL       string `json:"api_url"`
	SIPURI       string `json:"sip_uri"`
	CAFile       string `json:"ca_file"`
	APIKeyFile   string `json:"api_key_file"`
	DashboardURL string `json:"dashboard_url"`
	PID          int    `json:"pid"`
}

// Start starts a server and waits until it is ready. The server is killed at the end of the test.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	s := &Server{Data: c.Data, Process: start(t, c)}
	s.open(t, s.ready(t), c.Key)
	return s
}

// start builds the server if necessary, and starts its process.
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

// StartTwo starts two servers with the same configuration, but different data folders. c.Flags must name their common database.
func StartTwo(t testing.TB, c Config) (one, two *Server) {
	t.Helper()
	one = Start(t, c)
	c.Data, c.Key = "", one.Key
	return one, Start(t, c)
}

// Refused starts a server that must exit with an error, and returns its output.
func Refused(t testing.TB, c Config) string {
	t.Helper()
	p := start(t, c)
	if code := p.ExitCode(t); code == 0 {
		t.Error("the server ended with exit code 0")
	}
	return p.Log()
}

// environment returns the environment of the tests without CALLWRIGHT_ variables, because the server refuses unknown variables with this
// prefix.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "CALLWRIGHT_") })
}

// ready waits for the server.json of this process, and ignores the file of an earlier, killed server.
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

// open sets the fields of s from server.json and the key file. key is the API key if there is no key file.
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
	// SIPURI has the form sip:HOST:PORT;transport=tls.
	hostport, _, _ := strings.Cut(strings.TrimPrefix(f.SIPURI, "sip:"), ";")
	if s.SIP, err = netip.ParseAddrPort(hostport); err != nil {
		t.Fatalf("sip_uri %q: %v", f.SIPURI, err)
	}
}

// Number returns the SIP URI of a number at the server.
func (s *Server) Number(number string) string { return "sip:" + number + "@" + s.SIP.String() }

// Stop sends SIGTERM and waits until the server has ended. It fails the test unless the exit code is 0.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.Terminate(t)
	if code := s.ExitCode(t); code != 0 {
		t.Errorf("the server stopped with exit code %d", code)
	}
}
