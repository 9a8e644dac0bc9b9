package platform

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// locked holds the lock files of a running server.
type locked []*os.File

// lock locks the data folder, and the file of an SQLite database, which may be in another folder. A second server on either would take over
// the calls of the first and delete its server.json. The locks end with the process, regardless of how it ends.
func lock(c Config) (locked, error) {
	files, err := lockFiles(c)
	if err != nil {
		return nil, err
	}
	var held locked
	for _, of := range files {
		f, err := of.lock()
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		held = append(held, f)
	}
	return held, nil
}

// lockFile is a file that a server locks. flag and what describe the protected resource in errors.
type lockFile struct{ flag, what, path string }

func lockFiles(c Config) ([]lockFile, error) {
	files := []lockFile{{"--data " + c.Data, "data folder " + c.Data, filepath.Join(c.Data, "server.lock")}}
	path, ok := databaseFile(c)
	if !ok {
		return files, nil
	}
	one, err := realPath(path)
	if err != nil {
		return nil, fmt.Errorf("--database-url %s: the folder %s cannot be used (%w): create it, or name a file in another folder",
			c.DatabaseURL, filepath.Dir(path), err)
	}
	return append(files, lockFile{"--database-url " + c.DatabaseURL, "database " + path, one + ".lock"}), nil
}

// databaseFile returns the path of the SQLite database. ok is false for PostgreSQL, and for an SQLite database in memory.
func databaseFile(c Config) (path string, ok bool) {
	path, ok = strings.CutPrefix(c.DatabaseURL, "sqlite:")
	return path, ok && path != ":memory:"
}

// realPath returns the absolute path of a file, without symbolic links. The file may be absent, but its folder must exist.
func realPath(path string) (string, error) {
	if one, err := filepath.EvalSymlinks(path); err == nil {
		return filepath.Abs(one)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(folder, filepath.Base(path)))
}

// checkWritable returns an error if no file can be created in the data folder, even if existing files, such as the lock file, are writable.
func checkWritable(folder string) error {
	probe, err := os.CreateTemp(folder, ".writable-*")
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		err = refused.Err
	}
	if err != nil {
		return fmt.Errorf("--data %s: the folder cannot be written (%w): the server must be able to write in it", folder, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// checkLost returns an error if the file of the SQLite database is missing although the data folder was used with a database before. A new
// database would contain another organization and another API key, and the loss would stay unnoticed. checkLost does not detect the loss if
// the program has its own Authenticator.
func checkLost(c Config) error {
	path, ok := databaseFile(c)
	if _, err := os.Stat(path); !ok || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	sign := webhookSecretFile(c) // a server without its own Authenticator writes this file at every start
	if _, err := os.Stat(sign); err != nil {
		return nil //nolint:nilerr // nothing shows that there was a database
	}
	return fmt.Errorf("the database %s is missing, but %s shows that the data folder was used with a database: restore that database from a backup, "+
		"or name another one with --database-url; to begin a new database, delete %s", path, sign, sign)
}

// lock locks the file and writes the process and host into it. It returns an error if another server holds the lock. The file is not
// deleted when the lock ends. Otherwise two servers could lock two different files with the same name.
func (l lockFile) lock() (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		if refused, ok := errors.AsType[*fs.PathError](err); ok {
			err = refused.Err // without the path of the lock file, which does not help users
		}
		return nil, fmt.Errorf("%s: %w: the server must be able to write in that folder", l.flag, err)
	}
	switch taken, err := flock(f); {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", l.path, err), f.Close())
	case taken:
		holder, _ := io.ReadAll(io.LimitReader(f, 1<<10)) // empty while the holder writes it
		return nil, errors.Join(fmt.Errorf("the %s is in use by another server (%s): stop that server, or start this one with another --data and another database; nodes that share a database need PostgreSQL, and each its own --data",
			l.what, strings.TrimSpace(string(holder))), f.Close())
	}
	host, _ := os.Hostname() // only informative
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

// Close releases the locks.
func (l locked) Close() error {
	var err error
	for _, f := range l {
		err = errors.Join(err, f.Close())
	}
	return err
}
