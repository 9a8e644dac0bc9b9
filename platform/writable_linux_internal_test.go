//go:build linux

package platform

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore"
)

// nobody is the id of a user without privileges. The function give makes this user the owner of the files.
const nobody = 65534

// TestReadOnly checks that the start reports a read-only data folder, database, or database folder, even after an earlier start could write
// there.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protected func(c Config, database string) string
		again     func(context.Context, Config) error // the step of the start that must fail
		want      string
	}{
		"data folder": {
			func(c Config, _ string) string { return c.Data }, func(_ context.Context, c Config) error { return take(c) },
			"--data %data%: the folder cannot be written (permission denied)",
		},
		"database": {
			func(_ Config, database string) string { return database }, openDatabase, "the database %database% cannot be written (permission denied)",
		},
		"folder of the database": {
			func(_ Config, database string) string { return filepath.Dir(database) }, openDatabase,
			"the folder %folder% of the database x.db cannot be written (permission denied)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			data, folder := filepath.Join(root, "data"), filepath.Join(root, "databases")
			database := filepath.Join(folder, "x.db")
			c := Config{Data: data, DatabaseURL: "sqlite:" + database}
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(take(c), openDatabase(t.Context(), c)); err != nil { // creates all files
				t.Fatal(err)
			}
			give(t, filepath.Dir(root))
			protected := tt.protected(c, database)
			if err := os.Chmod(protected, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(protected, 0o700) })
			failed := make(chan error)
			go func() { failed <- asNobody(func() error { return tt.again(context.Background(), c) }) }()
			err := <-failed
			want := strings.NewReplacer("%data%", data, "%database%", database, "%folder%", folder).Replace(tt.want)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("it starts with %v, want %q", err, want)
			}
		})
	}
}

// take locks and checks the data folder like the server, and releases the lock.
func take(c Config) error {
	held, err := lockFolder(c)
	return errors.Join(err, held.Close())
}

// openDatabase opens the database like the server, and closes it.
func openDatabase(ctx context.Context, c Config) error {
	s, err := newSecrets(c)
	if err != nil {
		return err
	}
	db, err := bunstore.Open(ctx, c.DatabaseURL, bunstore.Config{Keyring: s.Keyring})
	if err != nil {
		return err
	}
	return db.Close()
}

// give changes the owner of a folder and its files to nobody, if the test runs as root.
func give(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil || os.Geteuid() != 0 {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// asNobody calls f. If the test runs as root, which permissions do not restrict, f runs on a thread whose file access has the permissions
// of nobody.
func asNobody(f func() error) error {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if os.Geteuid() == 0 {
		_ = syscall.Setfsuid(nobody)
	}
	return f()
}
