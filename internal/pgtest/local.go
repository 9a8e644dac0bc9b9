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

// startTries is how often a server is started on another port, after somebody else took the one found free.
const startTries = 3

// fastSettings are server options that trade the safety of the data, which nobody wants here, for speed, and allow
// for many tests with a pool each.
func fastSettings() []string {
	return []string{
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=300",
	}
}

// binaryFolders lists where initdb and pg_ctl may be, the best first: in the search path, in Debian's folder for
// each major version, in Homebrew's.
func binaryFolders() []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
	} {
		found, _ := filepath.Glob(pattern) // the only error is a bad pattern
		for _, folder := range slices.Backward(found) {
			folders = append(folders, folder) // two-digit versions sort by name: the newest first
		}
	}
	return folders
}

// findBinaries returns the first folder that has both programs.
func findBinaries(folders []string) (string, error) {
	for _, folder := range folders {
		_, errInit := exec.LookPath(filepath.Join(folder, "initdb"))
		_, errCtl := exec.LookPath(filepath.Join(folder, "pg_ctl"))
		if errInit == nil && errCtl == nil {
			return folder, nil
		}
	}
	return "", errors.New("no PostgreSQL server (initdb, pg_ctl) is installed on this machine")
}

// startLocal makes a data folder, starts a server on it and returns the DSN of its superuser.
func startLocal(ctx context.Context, bin string) (string, error) {
	account, err := unprivileged()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "callwright-pgtest-")
	if err != nil {
		return "", err
	}
	if _, err := guard.Start(account, `"$1/pg_ctl" stop -D "$2/data" -m immediate; /bin/rm -rf "$2"`, bin, dir); err != nil {
		return "", err
	}
	run := func(program string, args ...string) error {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", program, err, output)
		}
		return nil
	}
	data, password := filepath.Join(dir, "data"), randomHex(16)
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte(password), 0o600); err != nil {
		return "", err
	}
	if err := giveAway(account, dir, filepath.Join(dir, "password")); err != nil {
		return "", err
	}
	err = run("initdb", "--pgdata="+data, "--username=postgres", "--pwfile="+filepath.Join(dir, "password"),
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return "", err
	}
	port, err := startOnFreePort(ctx, dir, func(options string) error {
		return run("pg_ctl", "start", "-D", data, "-w", "-t", "60", "-l", filepath.Join(dir, "log"), "-o", options)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable", password, port), nil
}

// startOnFreePort calls start with the options of a server on a free port of the loopback interface. Between the
// look for a free port and its use somebody else may take it, hence the tries. The server's own words about its last
// failure are in the file log of dir.
func startOnFreePort(ctx context.Context, dir string, start func(options string) error) (int, error) {
	var failure error
	for range startTries {
		port, err := freePort(ctx)
		if err != nil {
			return 0, err
		}
		options := append([]string{
			"-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		}, fastSettings()...)
		if failure = start(strings.Join(options, " ")); failure == nil {
			return port, nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	return 0, fmt.Errorf("%w\n%s", failure, log)
}

// freePort returns a TCP port of the loopback interface that nobody listens on at this moment.
func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	return int(address.Port()), err
}

// unprivileged returns the account to run the server as: PostgreSQL refuses root. It is nil, our own, for all others.
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
	return nil, errors.New("PostgreSQL does not run as root, and neither the account postgres nor nobody is there")
}

// giveAway makes the account the owner of the paths.
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
