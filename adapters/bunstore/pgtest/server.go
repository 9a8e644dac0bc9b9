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

// Server is a PostgreSQL server that a single test can stop, kill and freeze. Its port stays the same.
type Server struct {
	cluster *cluster
	port    int
}

// NewServer starts a server from the binaries of this machine, independently of the server of DSN. It is stopped and deleted at the end of
// the test.
func NewServer(t testing.TB) *Server {
	t.Helper()
	s := newServer(t, "")
	must(t, s.cluster.initialize(t.Context()))
	s.open(t)
	return s
}

// newServer creates a server without data. If password is not empty, it replaces the random password, for a standby.
func newServer(t testing.TB, password string) *Server {
	t.Helper()
	bin, err := findBinaries(binaryFolders(), "pg_basebackup")
	if err != nil {
		t.Fatalf("pgtest: %v: run scripts/install-deps.sh test", err)
	}
	c, err := newCluster(bin)
	must(t, err)
	// Tests kill the server, after which confirmed writes must be stored. fsync is not necessary for that, because the kernel survives.
	c.settings = []string{"-c", "fsync=off", "-c", "max_connections=60"}
	if password != "" {
		c.password = password
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		s := &Server{cluster: c}
		s.signal(syscall.SIGCONT)
		_ = c.run(ctx, "pg_ctl", "stop", "-D", c.path("data"), "-m", "immediate") // fails if the server does not run
		c.release()
		_ = os.RemoveAll(c.dir)
	})
	return &Server{cluster: c}
}

// open starts the server for the first time and sets its port.
func (s *Server) open(t testing.TB) {
	t.Helper()
	port, err := s.cluster.startOnFreePort(t.Context())
	must(t, err)
	s.port = port
}

// DSN returns the data source name of the superuser. It also contains the other servers as hosts, which clients try in order.
func (s *Server) DSN(others ...*Server) string {
	ports := []int{s.port}
	for _, o := range others {
		ports = append(ports, o.port)
	}
	return s.cluster.dsn(ports...)
}

// Exec executes a statement as the superuser, and fails the test on an error.
func (s *Server) Exec(t testing.TB, statement string) {
	t.Helper()
	must(t, admin(t.Context(), s.DSN(), statement))
}

// Stop stops the server in the fast mode, as operators do: it closes all sessions.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	must(t, s.cluster.run(t.Context(), "pg_ctl", "stop", "-D", s.cluster.path("data"), "-m", "fast", "-w"))
}

// Start starts a server that was stopped or killed, and waits until it accepts connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	must(t, s.cluster.start(t.Context(), s.port))
}

// Kill kills all processes of the server and waits at most killTimeout until they have exited: until then, their shared memory prevents the
// next start.
func (s *Server) Kill() {
	killed := s.signal(syscall.SIGKILL)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(killTimeout); time.Now().Before(deadline) && slices.ContainsFunc(killed, runs); {
		<-tick.C
	}
	_ = os.Remove(s.cluster.path("data/postmaster.pid")) // the process may remain as a zombie
}

// killTimeout is the maximum time that Kill waits for the processes to exit.
const killTimeout = 30 * time.Second

// runs reports whether a process exists and is not a zombie, that is, an exited process whose parent has not yet waited for it.
func runs(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // at once
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// Freeze suspends all processes of the server: connections stay open, but the server does not respond.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Resume resumes a frozen server.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// SetReadOnly makes the transactions of all sessions, including existing ones, read-only by default if on is true, and read-write
// otherwise.
func (s *Server) SetReadOnly(t testing.TB, on bool) {
	t.Helper()
	s.Exec(t, fmt.Sprintf("ALTER SYSTEM SET default_transaction_read_only = %t", on)) // allowed in a read-only session, because it runs outside transactions
	s.Exec(t, "SELECT pg_reload_conf()")
}

// Standby starts a server that replicates s. From then on, s confirms a write only after the standby has stored it.
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

// Promote makes a standby accept writes.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	must(t, s.cluster.run(t.Context(), "pg_ctl", "promote", "-D", s.cluster.path("data"), "-w"))
}

// signal sends a signal to all processes of the server, and returns their ids. It suspends the main process first, so that the main process
// starts no further processes meanwhile.
func (s *Server) signal(signal syscall.Signal) (sent []int) {
	file, err := os.ReadFile(s.cluster.path("data/postmaster.pid"))
	if err != nil {
		return nil // the server does not run
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
