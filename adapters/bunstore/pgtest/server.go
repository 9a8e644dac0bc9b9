package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a PostgreSQL server for one test, which can fail in the ways of real servers. Its port stays the same.
type Server struct {
	cluster *cluster
	port    int
}

// NewServer starts a server from the binaries of this machine, regardless of the server of DSN, and ends it with the test.
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := newServer(t, "")
	must(t, s.cluster.initialize(t.Context()))
	s.open(t)
	return s
}

// newServer makes a server without data, with the password of another one or its own.
func newServer(t testing.TB, password string) *Server {
	t.Helper()
	bin, err := findBinaries(binaryFolders(), "pg_basebackup")
	if err != nil {
		t.Fatalf("pgtest: %v: run scripts/install-deps.sh test", err)
	}
	c, err := newCluster(bin)
	must(t, err)
	// It is killed, and keeps confirmed writes: the kernel has them, with or without fsync.
	c.settings = []string{"-c", "fsync=off", "-c", "max_connections=60"}
	if password != "" {
		c.password = password
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		s := &Server{cluster: c}
		s.signal(syscall.SIGCONT)
		_ = c.run(ctx, "pg_ctl", "stop", "-D", c.path("data"), "-m", "immediate") // unless it does not run
		c.release()
		_ = os.RemoveAll(c.dir)
	})
	return &Server{cluster: c}
}

// open starts the server for the first time.
func (s *Server) open(t testing.TB) {
	t.Helper()
	port, err := s.cluster.startOnFreePort(t.Context())
	must(t, err)
	s.port = port
}

// DSN returns the data source name of the superuser. With other servers it names these, too, as hosts to try one after the other.
func (s *Server) DSN(others ...*Server) string {
	ports := []int{s.port}
	for _, o := range others {
		ports = append(ports, o.port)
	}
	return s.cluster.dsn(ports...)
}

// Exec runs a statement as the superuser.
func (s *Server) Exec(t testing.TB, statement string) {
	t.Helper()
	must(t, admin(t.Context(), s.DSN(), statement))
}

// Stop stops the server as an operator does: it ends all sessions.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	must(t, s.cluster.run(t.Context(), "pg_ctl", "stop", "-D", s.cluster.path("data"), "-m", "fast", "-w"))
}

// Start starts a server that was stopped or killed, and waits until it takes connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	must(t, s.cluster.start(t.Context(), s.port))
}

// Kill kills all processes of the server, and waits until none runs: the memory that they share keeps the next start away.
func (s *Server) Kill() {
	killed := s.signal(syscall.SIGKILL)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(killTimeout); time.Now().Before(deadline) && slices.ContainsFunc(killed, runs); {
		<-tick.C
	}
	_ = os.Remove(s.cluster.path("data/postmaster.pid")) // its process may stay as a zombie
}

// killTimeout bounds the time in which killed processes end.
const killTimeout = 30 * time.Second

// runs reports whether a process runs. One that has ended may wait for its parent to ask how.
func runs(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // at once
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// Freeze stops all processes of the server: its connections stay, and it says nothing.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Resume resumes a frozen server.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// SetReadOnly makes the transactions of all sessions, including existing ones, read-only by default, or reverts it.
func (s *Server) SetReadOnly(t testing.TB, on bool) {
	t.Helper()
	s.Exec(t, fmt.Sprintf("ALTER SYSTEM SET default_transaction_read_only = %t", on)) // which is no transaction
	s.Exec(t, "SELECT pg_reload_conf()")
}

// Standby starts a server that follows this one, which confirms a write from then on only when the other has it, too.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	other := newServer(t, s.cluster.password)
	other.cluster.settings = append(other.cluster.settings, "-c", "wal_retrieve_retry_interval=100ms")
	must(t, other.cluster.run(t.Context(), "pg_basebackup", "-D", other.cluster.path("data"), "-d", s.DSN(), "-R", "-c", "fast", "--no-sync"))
	other.open(t)
	s.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	s.Exec(t, "SELECT pg_reload_conf()")
	return other
}

// Promote makes a standby a server that takes writes.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	must(t, s.cluster.run(t.Context(), "pg_ctl", "promote", "-D", s.cluster.path("data"), "-w"))
}

// signal sends a signal to all processes of the server, and returns them. Its first one, which alone starts others, stands still
// meanwhile.
func (s *Server) signal(signal syscall.Signal) (sent []int) {
	file, err := os.ReadFile(s.cluster.path("data/postmaster.pid"))
	if err != nil {
		return nil // it does not run
	}
	line, _, _ := strings.Cut(string(file), "\n")
	first, err := strconv.Atoi(line)
	if err != nil {
		return nil
	}
	_ = syscall.Kill(first, syscall.SIGSTOP)
	list, _ := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output() //nolint:noctx // at once
	for line := range strings.Lines(string(list)) {
		var child, parent int
		if n, _ := fmt.Sscan(line, &child, &parent); n == 2 && parent == first {
			_ = syscall.Kill(child, signal)
			sent = append(sent, child)
		}
	}
	_ = syscall.Kill(first, signal)
	return append(sent, first)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}
