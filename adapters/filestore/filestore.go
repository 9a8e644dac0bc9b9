// Package filestore stores audio as files in a folder: the recordings of calls, and the samples of speech.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// Recordings stores recordings in a folder; it implements call.Recordings. It accesses files through os.Root, so that no id can lead out of
// the folder.
type Recordings struct{ root *os.Root }

// recordings names the files in error messages.
const recordings = "recordings"

// New opens a folder for recordings, and creates it if it is absent.
func New(folder string) (*Recordings, error) {
	root, err := openFolder(recordings, folder)
	if err != nil {
		return nil, err
	}
	return &Recordings{root: root}, nil
}

// Close releases the handle of the folder. It deletes nothing.
func (r *Recordings) Close() error { return r.root.Close() }

// Create starts the recording of a call. It truncates an existing file, which a crash may have left.
func (r *Recordings) Create(_ context.Context, org callwright.OrgID, id string) (call.RecordingFile, error) {
	name, err := path(org, id)
	if err != nil {
		return nil, err
	}
	if err := r.root.MkdirAll(filepath.Dir(name), folderMode); err != nil {
		return nil, coded(recordings, fmt.Errorf("recordings: %w", err))
	}
	f, err := r.root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_TRUNC, fileMode)
	if err != nil {
		return nil, coded(recordings, fmt.Errorf("recordings: %w", err))
	}
	return file{f}, nil
}

// file is a recording that is being written. It does not embed the os.File, because the other write methods of os.File return errors
// without a code.
type file struct{ f *os.File }

// Write writes p to the file. It returns CodeUnavailable if the disk is full.
func (f file) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	return n, coded(recordings, err)
}

// Seek sets the offset of the next write.
func (f file) Seek(offset int64, whence int) (int64, error) { return f.f.Seek(offset, whence) }

// Close closes the file. It returns CodeUnavailable if the disk is full.
func (f file) Close() error { return coded(recordings, f.f.Close()) }

// Open opens a recording for reading, or returns CodeNotFound if it is absent.
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

func path(org callwright.OrgID, id string) (string, error) {
	if err := checkNames(recordings, org, id); err != nil {
		return "", err
	}
	return filepath.Join(string(org), id+".wav"), nil
}
