package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// locked is what a server has for itself while it runs.
type locked []*os.File

// lock takes the data folder, and the file of a SQLite database wherever that lies. A second server on either would work on the
// first one's calls and remove its server.json. The locks end with the process, however that ends.
func lock(c config) (locked, error) {
	var held locked
	for _, of := range lockFiles(c) {
		f, err := of.lock()
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		held = append(held, f)
	}
	return held, nil
}

// lockFile is a file that a server locks, and what it stands for.
type lockFile struct{ what, path string }

func lockFiles(c config) []lockFile {
	files := []lockFile{{"data folder " + c.Data, filepath.Join(c.Data, "server.lock")}}
	path, ok := strings.CutPrefix(c.DatabaseURL, "sqlite:")
	if ok && path != ":memory:" && filepath.Dir(path) != filepath.Clean(c.Data) {
		files = append(files, lockFile{"database " + path, path + ".lock"})
	}
	return files
}

// lock takes one lock and writes into its file whose it is. The file stays when the lock ends: were it removed, two servers
// could lock two files of that name.
func (l lockFile) lock() (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	switch taken, err := flock(f); {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", l.path, err), f.Close())
	case taken:
		holder, _ := io.ReadAll(io.LimitReader(f, 1<<10)) // empty if it is just being written
		return nil, errors.Join(fmt.Errorf("the %s is in use by another server (%s): stop that one, or start this one with another --data, and several nodes with PostgreSQL",
			l.what, strings.TrimSpace(string(holder))), f.Close())
	}
	host, _ := os.Hostname() // for people
	holder := fmt.Sprintf("process %d on %s\n", os.Getpid(), host)
	if err := errors.Join(f.Truncate(0), writeAt(f, holder)); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", l.path, err), f.Close())
	}
	return f, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// Close ends the locks.
func (l locked) Close() error {
	var err error
	for _, f := range l {
		err = errors.Join(err, f.Close())
	}
	return err
}
