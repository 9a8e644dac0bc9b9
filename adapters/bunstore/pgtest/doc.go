// Package pgtest gives a test an empty PostgreSQL database of its own.
//
//	func TestStore(t *testing.T) {
//		t.Parallel()
//		db := open(t, pgtest.DSN(t))
//		…
//	}
//
// Tests that need tables take copies of a Template, which has them made once.
//
// The first call in a test process finds a server, all later calls share it. It is the first of these that is there:
//
//  1. the server of the DSN in CALLWRIGHT_TEST_POSTGRES, whose role must be allowed to create databases;
//  2. a container, when a Docker daemon answers and holds the image that scripts/postgres-image.sh builds;
//  3. a server started from binaries on this machine, on a free port of the loopback interface.
//
// A test never skips for want of a server: without any of the three it fails and names the packages to install. With
// CALLWRIGHT_TEST_REQUIRE_DOCKER=1 only the second counts, so that CI cannot fall back silently.
//
// A container keeps its files in memory, except in processes that run benchmarks.
//
// A container or server that this package started ends with the test process, however that ends: a small guard
// process holds the reading end of a pipe and cleans up when the writing end is gone.
//
// The package runs on Linux and macOS.
package pgtest
