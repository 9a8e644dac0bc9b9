package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// envDSN is the environment variable with the DSN of a server to use instead of starting one.
	envDSN = "CALLWRIGHT_TEST_POSTGRES"
	// envRequireDocker is the environment variable that allows only a container, if it is 1.
	envRequireDocker = "CALLWRIGHT_TEST_REQUIRE_DOCKER"

	// minVersion is the oldest PostgreSQL version that Callwright supports, in the format of server_version_num.
	minVersion = 150000

	startTimeout = 2 * time.Minute
	adminTimeout = 30 * time.Second
)

// shared chooses the server of this process, once, and returns the DSN of a role that may create databases. It returns an error if no
// server is available, or if the server is older than minVersion.
var shared = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	server, err := findServer(ctx)
	if err != nil {
		return "", err
	}
	return server, checkVersion(ctx, server)
})

// DSN creates an empty database and returns its data source name: a URL, unless CALLWRIGHT_TEST_POSTGRES is in the keyword format. At the
// end of the test the database is deleted, and its open connections are closed. DSN fails the test if no server is available.
func DSN(t testing.TB) string {
	t.Helper()
	// template0 accepts no connections; a template that is in use cannot be copied.
	return database(t, server(t), "template0")
}

// server returns the DSN of the shared server, or fails the test.
func server(t testing.TB) string {
	t.Helper()
	dsn, err := shared()
	if err != nil {
		t.Fatalf("pgtest: no PostgreSQL server for this test: %v", err)
	}
	return dsn
}

// database creates a copy of a template database for a test, and returns its DSN. The copy is deleted at the end of the test.
func database(t testing.TB, server, template string) string {
	t.Helper()
	name := newName()
	if err := admin(t.Context(), server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context is canceled before its cleanups run.
		if err := admin(context.Background(), server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	dsn, err := withDatabase(server, name)
	if err != nil {
		t.Fatalf("pgtest: %s: %v", envDSN, err)
	}
	return dsn
}

// newName returns a random, unused name for a database.
func newName() string { return "callwright_test_" + randomHex(8) }

// findServer chooses a server as the package comment describes, and returns the DSN of a role that may create databases.
func findServer(ctx context.Context) (string, error) {
	dockerOnly := os.Getenv(envRequireDocker) == "1"
	if dsn := os.Getenv(envDSN); dsn != "" && !dockerOnly {
		return dsn, nil
	}
	missing := dockerReady(ctx)
	if missing == nil {
		return startContainer(ctx)
	}
	if dockerOnly {
		return "", fmt.Errorf("%s=1 asks for a container, but %w: run scripts/docker-up.sh and scripts/postgres-image.sh",
			envRequireDocker, missing)
	}
	bin, err := findBinaries(binaryFolders())
	if err != nil {
		return "", errors.Join(missing, err, errors.New("run scripts/install-deps.sh test, or set "+envDSN))
	}
	return startLocal(ctx, bin)
}

// checkVersion returns an error if the server is older than minVersion.
func checkVersion(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	if version < minVersion {
		return fmt.Errorf("the server is PostgreSQL %d, the tests need %d or newer", version/10000, minVersion/10000)
	}
	return nil
}

// admin executes one statement on a new connection. A pool is not worthwhile for such rare statements, and its goroutines would fail the
// leak checks of the tests.
func admin(ctx context.Context, dsn, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// withDatabase returns the DSN with another database name. It supports both formats of libpq, URLs and keywords.
func withDatabase(dsn, name string) (string, error) {
	if !strings.Contains(dsn, "://") {
		return dsn + " dbname=" + name, nil // libpq uses the last of two equal keywords
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New(envDSN + " must be a valid URL or libpq keywords") // the error of url.Parse would contain the password
	}
	u.Path = "/" + name
	return u.String(), nil
}

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // documented never to return an error
	return hex.EncodeToString(raw)
}
