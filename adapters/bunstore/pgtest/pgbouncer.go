package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/callwright/callwright/internal/guard"
)

// PooledDSN is like DSN, but the connections pass through PgBouncer in transaction mode, which may execute each transaction in another
// session of the server.
func PooledDSN(t testing.TB) string {
	t.Helper()
	direct, err := url.Parse(DSN(t))
	must(t, err)
	address, err := pooler()
	if err != nil {
		t.Fatalf("pgtest: no PgBouncer for this test: %v", err)
	}
	direct.Host = address
	return direct.String()
}

// pooler starts a PgBouncer in front of the shared server, once per process, and returns its address.
var pooler = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	dsn, err := shared()
	if err != nil {
		return "", err
	}
	server, err := url.Parse(dsn)
	if err != nil || server.Hostname() == "" {
		return "", fmt.Errorf("%s must be a URL", envDSN)
	}
	return startPooler(ctx, server)
})

// findPooler returns the path of the pgbouncer program. On Debian, the program is not in the search path of ordinary users.
func findPooler() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("pgbouncer is not installed: run scripts/install-deps.sh test")
}

// startPooler starts PgBouncer in front of a server and returns its address. A guard stops PgBouncer after this process.
func startPooler(ctx context.Context, server *url.URL) (string, error) {
	program, err := findPooler()
	if err != nil {
		return "", err
	}
	account, err := unprivileged() // PgBouncer also refuses to run as root
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "callwright-pgbouncer-")
	if err != nil {
		return "", err
	}
	if _, err := guard.Start(account, `kill "$(cat "$1/pid")"; /bin/rm -rf "$1"`, dir); err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	password, _ := server.User.Password()
	quote := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	files := map[string]string{
		"users": quote(server.User.Username()) + " " + quote(password) + "\n",
		"ini": fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
server_round_robin = 1
default_pool_size = 10
max_client_conn = 1000
logfile = %s
pidfile = %s
`, server.Hostname(), server.Port(), port, filepath.Join(dir, "users"), filepath.Join(dir, "log"), filepath.Join(dir, "pid")),
	}
	paths := []string{dir}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		paths = append(paths, path)
	}
	if err := giveAway(account, paths...); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "-d", "-q", filepath.Join(dir, "ini")) // -d makes it continue in the background
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
	if output, err := cmd.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return "", fmt.Errorf("pgbouncer: %w\n%s%s", err, output, log)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return address, conn.Close()
		}
		if ctx.Err() != nil {
			return "", err
		}
	}
}
