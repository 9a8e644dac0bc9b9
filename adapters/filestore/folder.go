package filestore

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"syscall"

	"github.com/callwright/callwright"
)

// Only the server's user may read the files.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// openFolder makes a folder for a kind of files, such as "recordings", if it does not exist, and opens it.
func openFolder(kind, folder string) (*os.Root, error) {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return root, nil
}

// coded adds a code and a human-readable message to the error of a full disk.
func coded(kind string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return callwright.Errorf(callwright.CodeUnavailable, "the disk for %s is full", kind).Because(err)
	}
	return err
}

// plain matches the ids and names that become names of files and folders. No other does.
var plain = regexp.MustCompile(`^[0-9A-Za-z_-]{1,128}$`)

// checkNames refuses an organization or an id that is not plain.
func checkNames(kind string, org callwright.OrgID, id string) error {
	if !plain.MatchString(string(org)) || !plain.MatchString(id) {
		return fmt.Errorf("%s: the ids %q and %q must be 1 to 128 letters, digits, _ or -", kind, org, id)
	}
	return nil
}
