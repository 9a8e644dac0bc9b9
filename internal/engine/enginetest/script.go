// Package enginetest creates programs that replace speech engines in tests.
package enginetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Script writes a shell script under the name of a program to a temporary folder, and returns its path. The test must not run in parallel
// with tests that start programs. Their child processes could inherit the file while it is open for writing, and the system cannot run such
// a file.
func Script(t testing.TB, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
