// Package filestore keeps recordings as files in a folder: one folder an organization, one WAV file a call.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// Recordings is call.Recordings in a folder. The folder can't be left: os.Root sees to it, whatever an id holds.
type Recordings struct{ root *os.Root }

// The recordings are of calls: nobody but the server's user reads them.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// New makes the folder if it is not there.
func New(folder string) (*Recordings, error) {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	return &Recordings{root: root}, nil
}

// Close lets go of the folder.
func (r *Recordings) Close() error { return r.root.Close() }

// Create begins a recording, in place of one that a crash has cut off.
func (r *Recordings) Create(_ context.Context, org callwright.OrgID, id string) (call.RecordingFile, error) {
	name, err := path(org, id)
	if err != nil {
		return nil, err
	}
	if err := r.root.MkdirAll(filepath.Dir(name), folderMode); err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	f, err := r.root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_TRUNC, fileMode)
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	return f, nil
}

// Open reads a recording.
func (r *Recordings) Open(_ context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error) {
	name, err := path(org, id)
	if err != nil {
		return nil, callwright.NotFound("recording").Because(err)
	}
	f, err := r.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, callwright.NotFound("recording")
	}
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	return f, nil
}

// plain is what organizations' and calls' ids look like; nothing else becomes a file name.
var plain = regexp.MustCompile(`^[0-9A-Za-z_-]{1,128}$`)

func path(org callwright.OrgID, id string) (string, error) {
	if !plain.MatchString(string(org)) || !plain.MatchString(id) {
		return "", fmt.Errorf("recordings: %q/%q is not a name for a file", org, id)
	}
	return filepath.Join(string(org), id+".wav"), nil
}
