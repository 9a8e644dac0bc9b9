package pgtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

// envChild is the environment variable that makes this test binary act as a child process with one database, like the test process of
// another package. Its value is the mode of beChild.
const envChild = "PGTEST_CHILD"

// noDocker hides the docker command from a child process, so that it finds no daemon.
const noDocker = "PATH=/nonexistent"

const deadline = 60 * time.Second

// child replaces testing.T in a child process.
type child struct {
	testing.TB
}

func (child) Helper()                  {}
func (child) Context() context.Context { return context.Background() }
func (child) Cleanup(func())           {} // a killed process runs no cleanups
func (child) Fatalf(format string, args ...any) {
	fmt.Printf("failed: %q\n", fmt.Sprintf(format, args...)) // %q keeps it on one line
	os.Exit(1)
}

// beChild prints the DSN of a database, and then exits, panics or blocks, depending on mode.
func beChild(mode string) {
	fmt.Println(pgtest.DSN(child{}))
	switch mode {
	case "return":
		os.Exit(0)
	case "panic":
		panic("the test process panics")
	default:
		select {} // blocks until the process is killed
	}
}

// startChild starts a child process and returns it with the first line of its output: a DSN, or the failure of DSN.
func startChild(t *testing.T, mode string, environment ...string) (*exec.Cmd, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), envChild+"="+mode), environment...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(cmd) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the child process said nothing: %v", err)
	}
	return cmd, strings.TrimSpace(line)
}

// end kills a child process and waits until it has exited.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// await calls the function done until it returns true, or fails the test after deadline.
func await(t *testing.T, what string, done func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("after %v not yet: %s", deadline, what)
		case <-tick.C:
		}
	}
}

// awaitGone waits until the server of a DSN refuses connections.
func awaitGone(t *testing.T, dsn string) {
	t.Helper()
	await(t, "the server is gone", func(ctx context.Context) bool {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			conn.Close(ctx)
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}

// local returns an environment in which a child process starts a server from binaries, even if other servers are available, and the folder
// for its data.
func local(t *testing.T) (environment []string, folder string) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "pgtest-") //nolint:usetesting // the server's account has to get into it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	return []string{
		"CALLWRIGHT_TEST_POSTGRES=", "CALLWRIGHT_TEST_REQUIRE_DOCKER=",
		noDocker, "TMPDIR=" + folder,
	}, folder
}

func TestServerEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"return", "panic", "kill"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			environment, folder := local(t)
			endAndAwait(t, mode, environment...)
			await(t, "the data folder is removed", func(context.Context) bool {
				left, err := filepath.Glob(filepath.Join(folder, "callwright-pgtest-*"))
				return err == nil && len(left) == 0
			})
		})
	}
	if os.Getenv("CALLWRIGHT_TEST_REQUIRE_DOCKER") == "1" {
		t.Run("kill with a container", func(t *testing.T) {
			t.Parallel()
			endAndAwait(t, "kill")
		})
	}
}

// endAndAwait starts a child process that ends in the given mode, and waits until its server is gone.
func endAndAwait(t *testing.T, mode string, environment ...string) {
	t.Helper()
	cmd, dsn := startChild(t, mode, environment...)
	if !strings.HasPrefix(dsn, "postgres://") {
		t.Fatal(dsn)
	}
	if mode == "kill" {
		open(t, dsn).Close(t.Context()) // the server must run as long as its process
		end(cmd)
	}
	awaitGone(t, dsn)
}

func TestServerOfTheEnvironmentIsUsed(t *testing.T) {
	t.Parallel()
	given := pgtest.DSN(t)
	cmd, dsn := startChild(t, "kill", "CALLWRIGHT_TEST_POSTGRES="+given, "CALLWRIGHT_TEST_REQUIRE_DOCKER=")
	want, err := url.Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if got.Host != want.Host || got.Path == want.Path {
		t.Fatalf("the child got %q from the server of %q, want another database there", dsn, given)
	}
	end(cmd)
	// The given server keeps the database of the killed test: delete it here.
	if _, err := open(t, given).Exec(t.Context(), "DROP DATABASE "+strings.TrimPrefix(got.Path, "/")+" WITH (FORCE)"); err != nil {
		t.Error(err)
	}
}

func TestRequiredDockerNeverFallsBack(t *testing.T) {
	t.Parallel()
	_, line := startChild(t, "return",
		"CALLWRIGHT_TEST_REQUIRE_DOCKER=1", noDocker, "CALLWRIGHT_TEST_POSTGRES=host=localhost")
	if !strings.HasPrefix(line, "failed:") || !strings.Contains(line, "scripts/docker-up.sh") {
		t.Errorf("without Docker the child said %q, want a failure that names the script", line)
	}
}
