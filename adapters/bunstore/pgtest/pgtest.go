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
	// envDSN names a server to use instead of starting one.
	envDSN = "CALLWRIGHT_TEST_POSTGRES"
	// envRequireDocker set to 1 allows the container only.
	envRequireDocker = "CALLWRIGHT_TEST_REQUIRE_DOCKER"

	// minVersion is the oldest server that Callwright supports, as PostgreSQL numbers versions.
	minVersion = 150000

	startTimeout = 2 * time.Minute
	adminTimeout = 30 * time.Second
)

// shared finds the server of this process, once.
var shared = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	server, err := findServer(ctx)
	if err != nil {
		return "", err
	}
	return server, checkVersion(ctx, server)
})

// DSN creates an empty database and returns its data source name, a URL unless CALLWRIGHT_TEST_POSTGRES is written in keywords. The
// database is dropped when the test ends, with all open connections. DSN fails the test when there is no server.
func DSN(t testing.TB) string {
	t.Helper()
	// template0, because it accepts no connections: copying a template in use is refused.
	return database(t, server(t), "template0")
}

// server returns the DSN of the server of this process.
func server(t testing.TB) string {
	t.Helper()
	dsn, err := shared()
	if err != nil {
		t.Fatalf("pgtest: no PostgreSQL server for this test: %v", err)
	}
	return dsn
}

// database creates a database for a test as a copy of another one, and returns its DSN.
func database(t testing.TB, server, template string) string {
	t.Helper()
	name := newName()
	if err := admin(t.Context(), server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context is cancelled before its cleanups run.
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

// newName returns the name of a database that is not there yet.
func newName() string { return "callwright_test_" + randomHex(8) }

// findServer goes through the ladder of the package comment and returns the DSN of a role that may create databases.
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

// checkVersion refuses servers that Callwright doesn't support.
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

// admin runs one statement on a connection of its own: databases come and go too rarely for a pool, and a pool
// would leave goroutines to the leak checks of the tests.
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

// withDatabase returns the DSN with another database name, in either of the two notations of libpq.
func withDatabase(dsn, name string) (string, error) {
	if !strings.Contains(dsn, "://") {
		return dsn + " dbname=" + name, nil // the last of two equal keywords wins
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the data source name is no valid URL") // the error of url.Parse would show the password
	}
	u.Path = "/" + name
	return u.String(), nil
}

// randomHex returns n random bytes in hexadecimal digits.
func randomHex(n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never fails, by its documentation
	return hex.EncodeToString(raw)
}
