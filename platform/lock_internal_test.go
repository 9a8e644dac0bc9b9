package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLock checks that a second server cannot use the data folder or the database of a running server.
func TestLock(t *testing.T) {
	t.Parallel()
	elsewhere := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	one, two := Config{Data: t.TempDir(), DatabaseURL: elsewhere}, Config{Data: t.TempDir(), DatabaseURL: elsewhere}
	first, err := lockFolder(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(serverFilePath(one), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{one, two, {Data: one.Data}} {
		held, err := lockFolder(c)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", os.Getpid())) {
			t.Errorf("%+v was taken twice: %v, %v", c, held, err)
		}
	}
	if _, err := os.Stat(serverFilePath(one)); err != nil {
		t.Errorf("the first server's file: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockFolder(one)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	defer again.Close()
	if _, err := os.Stat(serverFilePath(one)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a server that was killed is still there: %v", err)
	}
}

// TestLockOfOneDatabase has two servers with their own folders use the same database: by default, by its path, or by a symbolic link to the
// file or its folder. The second server must be refused for every combination.
func TestLockOfOneDatabase(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, "callwright.db")
	file, folder := filepath.Join(t.TempDir(), "link.db"), filepath.Join(t.TempDir(), "link")
	err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Symlink(path, file), os.Symlink(data, folder))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]Config{
		"by default":           {Data: data, DatabaseURL: "sqlite:" + path},
		"by its address":       {Data: t.TempDir(), DatabaseURL: "sqlite:" + path},
		"by a link to it":      {Data: t.TempDir(), DatabaseURL: "sqlite:" + file},
		"by a link to the dir": {Data: t.TempDir(), DatabaseURL: "sqlite:" + filepath.Join(folder, "callwright.db")},
	}
	for first, c := range names {
		held, err := lockFolder(c)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		for second, c := range names {
			other, err := lockFolder(c)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", os.Getpid())) {
				t.Errorf("taken %s and %s: %v", first, second, errors.Join(err, other.Close()))
			}
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLostDatabase checks that a data folder with a webhook secret, whose SQLite database is missing, is refused until the file of the
// secret is deleted. Other databases may be used with the folder.
func TestLostDatabase(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := Config{Data: data, DatabaseURL: "sqlite:" + filepath.Join(data, "callwright.db")}
	take := func(c Config) error {
		held, err := lockFolder(c)
		return errors.Join(err, held.Close())
	}
	if err := take(c); err != nil {
		t.Errorf("a new folder: %v", err)
	}
	if err := os.WriteFile(webhookSecretFile(c), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := take(c)
	if err == nil || !strings.Contains(err.Error(), "callwright.db is missing") || !strings.Contains(err.Error(), webhookSecretFile(c)) {
		t.Errorf("without its database: %v", err)
	}
	for _, other := range []string{"postgres://localhost/x", "sqlite::memory:"} {
		if err := take(Config{Data: data, DatabaseURL: other}); err != nil {
			t.Errorf("on %s: %v", other, err)
		}
	}
	if err := os.Remove(webhookSecretFile(c)); err != nil {
		t.Fatal(err)
	}
	if err := take(c); err != nil {
		t.Errorf("after what the refusal says: %v", err)
	}
}
