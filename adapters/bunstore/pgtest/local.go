package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/callwright/callwright/internal/guard"
)

// startTries is the maximum number of attempts to start a server. An attempt fails if another program occupies the chosen port first.
const startTries = 3

// fastSettings returns server options that sacrifice durability, which tests do not need, for speed. They also allow enough connections for
// many tests with a pool each.
func fastSettings() []string {
	return []string{
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=300",
	}
}

// binaryFolders lists the folders that may contain initdb and pg_ctl, in order of preference: the search path, then the folders of Linux
// distributions and of Homebrew for each major version.
func binaryFolders() []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
	} {
		found, _ := filepath.Glob(pattern) // fails only for a malformed pattern
		for _, folder := range slices.Backward(found) {
			folders = append(folders, folder) // newest version first, as two-digit versions sort by name
		}
	}
	return folders
}

// findBinaries returns the first folder that contains initdb, pg_ctl and the further programs.
func findBinaries(folders []string, more ...string) (string, error) {
	programs := append([]string{"initdb", "pg_ctl"}, more...)
	for _, folder := range folders {
		lacks := func(program string) bool {
			_, err := exec.LookPath(filepath.Join(folder, program))
			return err != nil
		}
		if !slices.ContainsFunc(programs, lacks) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("no PostgreSQL server (%s) is installed on this machine", strings.Join(programs, ", "))
}

// cluster is the data folder of a server that this process starts from binaries.
type cluster struct {
	bin, dir string // folders of the programs, and of data, log and password
	account  *syscall.Credential
	password string
	settings []string
	release  func() // cancels the guard, which stops the server and deletes dir after this process
}

// newCluster creates the folder of a server, without its data, and starts the guard that deletes it after this process.
func newCluster(bin string) (*cluster, error) {
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "callwright-pgtest-")
	if err != nil {
		return nil, err
	}
	// SIGCONT is necessary, because a process that SIGSTOP has stopped cannot exit.
	const end = `kill -CONT $(head -n 1 "$2/data/postmaster.pid"); "$1/pg_ctl" stop -D "$2/data" -m immediate; /bin/rm -rf "$2"`
	release, err := guard.Start(account, end, bin, dir)
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: bin, dir: dir, account: account, password: randomHex(16), settings: fastSettings(), release: release}
	if err := os.WriteFile(c.path("password"), []byte(c.password), 0o600); err != nil {
		return nil, err
	}
	return c, giveAway(account, dir, c.path("password"))
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// run runs a PostgreSQL program as the server's account. Its error contains the output of the program.
func (c *cluster) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.account}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, output)
	}
	return nil
}

// initialize creates the data of a new server.
func (c *cluster) initialize(ctx context.Context) error {
	return c.run(ctx, "initdb", "--pgdata="+c.path("data"), "--username=postgres", "--pwfile="+c.path("password"),
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
}

// start starts the server on a port and waits until it accepts connections.
func (c *cluster) start(ctx context.Context, port int) error {
	options := append([]string{
		"-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
	}, c.settings...)
	return c.run(ctx, "pg_ctl", "start", "-D", c.path("data"), "-w", "-t", "60", "-l", c.path("log"), "-o", strings.Join(options, " "))
}

// dsn returns the DSN of the superuser, with the servers on the given ports as hosts.
func (c *cluster) dsn(ports ...int) string {
	hosts := make([]string, len(ports))
	for i, port := range ports {
		hosts[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	return fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", c.password, strings.Join(hosts, ","))
}

// startLocal creates and starts a server from binaries, and returns the DSN of its superuser.
func startLocal(ctx context.Context, bin string) (string, error) {
	c, err := newCluster(bin)
	if err != nil {
		return "", err
	}
	if err := c.initialize(ctx); err != nil {
		return "", err
	}
	port, err := c.startOnFreePort(ctx)
	if err != nil {
		return "", err
	}
	return c.dsn(port), nil
}

// startOnFreePort starts the server on a free port of the loopback interface, and returns the port. It tries several times, because another
// process may occupy the port first. If all attempts fail, the error contains the server's log.
func (c *cluster) startOnFreePort(ctx context.Context) (int, error) {
	var failure error
	for range startTries {
		port, err := freePort(ctx)
		if err != nil {
			return 0, err
		}
		if failure = c.start(ctx, port); failure == nil {
			return port, nil
		}
	}
	log, _ := os.ReadFile(c.path("log"))
	return 0, fmt.Errorf("%w\n%s", failure, log)
}

// freePort returns a TCP port of the loopback interface on which no process currently listens.
func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	return int(address.Port()), err
}

// unprivileged returns the account that runs the server if this process runs as root, because PostgreSQL refuses root. Otherwise it returns
// nil, which means the account of this process.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // exec takes nil for "as I am"
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(account.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(errUID, errGID); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and this machine has neither an account postgres nor an account nobody: create one")
}

// giveAway makes account the owner of the paths. It does nothing if account is nil.
func giveAway(account *syscall.Credential, paths ...string) error {
	if account == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(account.Uid), int(account.Gid)); err != nil {
			return err
		}
	}
	return nil
}
