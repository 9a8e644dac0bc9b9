// Package pgtest provides each test with its own empty PostgreSQL database.
//
//	func TestStore(t *testing.T) {
//		t.Parallel()
//		db := open(t, pgtest.DSN(t))
//		…
//	}
//
// Tests that need tables use copies of a Template, which creates the tables once.
//
// The first call in a test process chooses a server, which all later calls share. The choice is the first available of these:
//
//  1. the server of the DSN in CALLWRIGHT_TEST_POSTGRES, whose role must be allowed to create databases;
//  2. a container, if a Docker daemon responds and has the image that scripts/postgres-image.sh builds;
//  3. a server started from binaries on this machine, on a free port of the loopback interface.
//
// A test is never skipped because of a missing server: if none of the three is available, the test fails and names the packages to install.
// With CALLWRIGHT_TEST_REQUIRE_DOCKER=1 only the container is allowed, so that CI cannot fall back silently.
//
// A container stores its files in memory, except in processes that run benchmarks.
//
// A container or server that this package started stops with the test process, even if the process is killed. A small guard process holds
// the reading end of a pipe, and cleans up when the writing end is closed.
//
// The package runs on Linux and macOS.
package pgtest
