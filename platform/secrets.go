package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/masterkey"
)

// secretFile returns the path of the master key's file, which is used if masterkey.Variable is not set.
func secretFile(c Config) string { return masterkey.File(c.Data) }

// secrets contains the keys that are derived from the master key.
type secrets struct {
	masterkey.Keys

	From  string       // path or variable that contains the master key
	Store func() error // writes a new master key to its file; nil if the key existed before
}

func newSecrets(c Config) (secrets, error) {
	var s secrets
	master, err := masterkey.Find(os.Getenv(masterkey.Variable), c.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		master = masterkey.New(c.Data)
		s.Store = func() error { return replaceFile(master.From, []byte(master.Text().Reveal()+"\n")) }
	case err != nil:
		return secrets{}, fmt.Errorf("master key: %w", err)
	}
	s.From = master.From
	s.Keys, err = master.Keys()
	return s, err
}

// check returns an error if the database was created with another master key, or if the key that it was created with is missing. It accepts
// any key if the first organization is absent: in a new database, whose first organization is created together with the file of a new key,
// and if the program has its own Authenticator.
func (s secrets) check(ctx context.Context, tenants callwright.Tenants) error {
	_, err := tenants.Organization(ctx, FirstOrganization)
	switch {
	case errors.Is(err, callwright.ErrNotFound):
		return nil
	case s.Store != nil && (err == nil || errors.Is(err, callwright.ErrWrongKey)):
		return fmt.Errorf("the master key is missing: this database was created with one, but neither %s nor %s contains one; "+
			"restore that key from a backup or from another node (no new key was written)", s.From, masterkey.Variable)
	case errors.Is(err, callwright.ErrWrongKey):
		return fmt.Errorf("the master key in %s is not the key with which this database was created: "+
			"restore that key from a backup or from another node", s.From)
	}
	return err
}

// checkKeyFiles returns an error if other users can read or change the key files, or replace files in the data folder.
func checkKeyFiles(c Config) error {
	if err := checkFolder(c.Data); err != nil {
		return err
	}
	files := []string{secretFile(c), filepath.Join(c.Data, "ca.key"), apiKeyFile(c), webhookSecretFile(c)}
	if c.SIPKey != "" {
		files = append(files, c.SIPKey)
	}
	for _, path := range files {
		if err := checkKeyFile(path); err != nil {
			return err
		}
	}
	return nil
}

// checkKeyFile returns an error if other users can read or change a key file. An absent file is valid.
func checkKeyFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // the reader reports it
	}
	if uid, foreign := owner(info); foreign {
		return fmt.Errorf("%s holds a key and belongs to the user %d, who can read and change it: "+
			"chown it to the server's user, and replace the key if others may have read it", path, uid)
	}
	if shared(info) {
		return fmt.Errorf("%s holds a key and has mode %04o, which lets other users read or change it: "+
			"chmod 600 it, and replace the key if others may have read it", path, info.Mode().Perm())
	}
	return nil
}

// checkFolder returns an error if other users can replace files in a folder. It trusts root and the folder's group. A folder with the
// sticky bit, such as /tmp, may be writable by all users, because they cannot replace each other's files in it. An absent folder is valid.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // it is made later
	}
	if uid, foreign := owner(info); foreign {
		return fmt.Errorf("--data %s belongs to the user %d, who can replace the keys in it: chown it to the server's user", path, uid)
	}
	if info.Mode()&os.ModeSticky == 0 && info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("--data %s has mode %04o, which lets every user replace the keys in it: chmod o-w it", path, info.Mode().Perm())
	}
	return nil
}

// replaceFile writes a file that only this user can read, and replaces an existing file. It does not follow symbolic links.
func replaceFile(path string, text []byte) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the operator names it
		return err
	}
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(next, path) //nolint:gosec // the operator names it
}
