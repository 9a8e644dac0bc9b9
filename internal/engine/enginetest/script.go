// Package enginetest has programs that stand in for speech engines.
package enginetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Script writes a shell script under the name of a program, into a folder that goes with the test, and gives its path.
// The test must not run in parallel with others that start programs: a fork of theirs would keep the script open for
// writing, and then it cannot be run.
func Script(t testing.TB, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
