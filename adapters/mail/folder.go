package mail

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/callwright/callwright"
)

// FolderConfig configures a Folder.
type FolderConfig struct {
	Path string `required:"always"` // the folder, which NewFolder creates if it does not exist
	From string `required:"always"` // the sender's address

	callwright.Runtime
}

// Folder stores each mail as a file; it implements callwright.Mailer.
type Folder struct {
	cfg  FolderConfig
	root *os.Root
}

// The permissions allow only the server's user to read the mail.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// NewFolder checks the configuration, and opens the folder. It creates the folder if it does not exist.
func NewFolder(c FolderConfig) (*Folder, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if _, err := address(c.From); err != nil {
		return nil, fmt.Errorf("mail: FolderConfig.From: %w", err)
	}
	if err := os.MkdirAll(c.Path, folderMode); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	root, err := os.OpenRoot(c.Path)
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return &Folder{cfg: c, root: root}, nil
}

// Close closes the folder. It deletes no mail.
func (f *Folder) Close() error { return f.root.Close() }

// SendMail writes a message as a file, completely or not at all. A message with the same id replaces the earlier file. SendMail returns
// CodeForbidden for an invalid message, and CodeUnavailable if it cannot write the file.
func (f *Folder) SendMail(ctx context.Context, id, to, subject, text string) error {
	message, err := compose(f.cfg.From, id, to, subject, text, f.cfg.Clock.Now())
	if err != nil {
		f.cfg.Logger.ErrorContext(ctx, "mail refused", "id", id, "error", err)
		return refused(err)
	}
	final := name(id) + ".eml"
	part := "." + final + ".part"
	file, err := f.root.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return unavailable(err)
	}
	_, err = message.WriteTo(file)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return unavailable(errors.Join(err, f.root.Remove(part)))
	}
	if err := f.root.Rename(part, final); err != nil {
		return unavailable(err)
	}
	return nil
}

// refused returns the error for a message that no retry can send.
func refused(err error) error {
	return callwright.Errorf(callwright.CodeForbidden, "mail refused: %w", err)
}

func unavailable(err error) error {
	return callwright.Errorf(callwright.CodeUnavailable, "mail: %w", err)
}
