package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/callwright/callwright"
)

// FolderConfig is what a Folder needs.
type FolderConfig struct {
	Path   string           // made if it is not there
	From   string           // the sender's address
	Clock  callwright.Clock // nil: the machine's
	Logger *slog.Logger     // nil: discards
}

// Folder keeps mail as files, one a message. It is alert.Mailer.
type Folder struct {
	FolderConfig
	root *os.Root
}

// Mail is for its recipient: nobody but the server's user reads it.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// NewFolder makes the folder if it is not there.
func NewFolder(c FolderConfig) (*Folder, error) {
	if _, err := address(c.From); err != nil {
		return nil, fmt.Errorf("mail: From: %w", err)
	}
	c.Clock, c.Logger = defaults(c.Clock, c.Logger)
	if err := os.MkdirAll(c.Path, folderMode); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	root, err := os.OpenRoot(c.Path)
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return &Folder{FolderConfig: c, root: root}, nil
}

func defaults(clock callwright.Clock, logger *slog.Logger) (callwright.Clock, *slog.Logger) {
	if clock == nil {
		clock = callwright.SystemClock{}
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return clock, logger
}

// Close lets go of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// SendMail writes a message, all of it or nothing. One that is sent again takes the place of the first.
func (f *Folder) SendMail(ctx context.Context, id, to, subject, text string) error {
	message, err := compose(f.From, id, to, subject, text, f.Clock.Now())
	if err != nil {
		f.Logger.ErrorContext(ctx, "mail refused", "id", id, "error", err)
		return nil
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

func unavailable(err error) error {
	return callwright.Errorf(callwright.CodeUnavailable, "mail: %w", err)
}
