package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// secretFile is the file that --output names, if any. A secret is written only to this file, so that no other output contains the secret.
// The name "-" means the standard output.
type secretFile struct {
	name string
	f    *os.File
}

func (s *secretFile) add(cmd *cobra.Command, what string) {
	cmd.Flags().StringVarP(&s.name, "output", "o", "", "write "+what+" to a new `file` that only you can read, and print it nowhere; - prints it alone")
}

// open creates the file that --output names, if any, before the secret exists, so that a failure has no effect. It returns an error if the
// file exists.
func (s *secretFile) open(cmd *cobra.Command) (err error) {
	switch {
	case s.alone() && asJSON(cmd):
		return usage(errors.New("--json and -o - both write to the standard output: name a file with -o"))
	case s.alone() || s.name == "":
		return nil
	}
	s.f, err = os.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usage(fmt.Errorf("-o %s: the file already exists, and is not replaced: name a new one", s.name))
	}
	if err != nil {
		return cannotWrite(s.name, err)
	}
	return nil
}

// alone reports whether the command prints only the secret to the standard output.
func (s *secretFile) alone() bool { return s.name == stdoutName }

// store writes the secret to the file and returns an empty text. Without a file it returns the secret, which the caller prints.
func (s *secretFile) store(secret string) (string, error) {
	if s.f == nil {
		return secret, nil
	}
	_, err := s.f.WriteString(secret + "\n")
	err = errors.Join(err, s.f.Sync(), s.f.Close())
	if err != nil {
		return "", cannotWrite(s.name, errors.Join(err, os.Remove(s.name)))
	}
	s.f = nil
	return "", nil
}

// discard deletes the file if the secret was not written.
func (s *secretFile) discard() {
	if s.f != nil {
		_ = s.f.Close() // nothing was written
		_ = os.Remove(s.name)
	}
}
