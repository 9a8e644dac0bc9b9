package sipp

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/port"
	"github.com/callwright/callwright/internal/e2e/process"
)

// Server is a running sipp behind a TLS proxy.
type Server struct {
	*process.Process

	front netip.AddrPort
}

// Start starts a scenario and waits until it accepts calls. The server stops at the end of the test.
func Start(t testing.TB, ca *testca.Authority, s Scenario) *Server {
	t.Helper()
	program := process.Find(t, "sipp", "sip-tester")
	front := newFront(t, ca)
	folder := t.TempDir()
	file := filepath.Join(folder, "scenario.xml")
	if err := os.WriteFile(file, []byte(s.xml(front.addr().String())), 0o600); err != nil {
		t.Fatal(err)
	}
	for range startAttempts {
		addr := port.Free(t)
		cmd := exec.Command(program, //nolint:noctx // the test's cleanup ends it
			"-sf", file, "-i", "127.0.0.1", "-p", fmt.Sprint(addr.Port()), "-t", "t1", "-m", "1", "-nostdin",
			"-timeout", "120s", "-timeout_error", "-trace_err", "-error_file", filepath.Join(folder, "errors"))
		cmd.Dir = folder
		p := process.Start(t, "sipp "+string(s), cmd, "")
		await.That(t, "sipp to listen", func() bool { return !p.Running() || port.Listening(t.Context(), addr) })
		if p.Running() {
			front.serve(addr)
			return &Server{Process: p, front: front.addr()}
		}
	}
	t.Fatalf("sipp did not start in %d attempts on different ports", startAttempts)
	return nil
}

// startAttempts limits the attempts to start sipp. Each uses a new port, in case another program took the port that was free.
const startAttempts = 5

// URI returns the URI of the server, for a trunk.
func (s *Server) URI() string { return "sip:" + s.front.String() + ";transport=tls" }

// Succeeds waits until the scenario has ended, and fails the test if an expected request was missing.
func (s *Server) Succeeds(t testing.TB) {
	t.Helper()
	if code := s.ExitCode(t); code != 0 {
		t.Errorf("the scenario ended with exit code %d", code)
	}
}
