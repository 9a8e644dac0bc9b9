package filestore

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"syscall"

	"github.com/callwright/callwright"
)

// The modes allow access only to the user of the server.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// openFolder opens a folder, and creates it if it is absent. kind names its files in error messages, for example "recordings".
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

// coded converts the error of a full disk or an exhausted quota to CodeUnavailable. It returns other errors unchanged.
func coded(kind string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return callwright.Errorf(callwright.CodeUnavailable, "the disk for %s is full, or its quota is used up: free some space", kind).Because(err)
	}
	return err
}

// plain matches the ids and names that may become names of files and folders.
var plain = regexp.MustCompile(`^[0-9A-Za-z_-]{1,128}$`)

// checkNames returns an error if the organization or the id is not plain.
func checkNames(kind string, org callwright.OrgID, id string) error {
	if !plain.MatchString(string(org)) || !plain.MatchString(id) {
		return fmt.Errorf("%s: the organization %q and the id %q must each have 1 to 128 characters: A-Z, a-z, 0-9, _ or -", kind, org, id)
	}
	return nil
}
