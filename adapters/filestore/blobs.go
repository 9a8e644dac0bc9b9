package filestore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
)

// Blobs stores the audio of samples in a folder; it implements speech.Blobs. It accesses files through os.Root, so that no name can lead
// out of the folder.
//
// The audio "name" of an organization ORG is the file ORG/me/name.wav. The folder "me", named after the last two characters of the name,
// keeps folders from becoming huge. A file is written in the folder .incoming, and renamed when it is complete and synced to disk. The
// folder of a Blobs contains nothing else, and the files contain exactly the stored bytes, so they can be copied to other storage.
type Blobs struct{ root *os.Root }

var _ speech.Blobs = (*Blobs)(nil)

const (
	audio    = "audio"     // names the files in error messages
	incoming = ".incoming" // cannot be the name of an organization, because it is not plain
	stale    = time.Hour   // minimum age of a file in incoming that counts as left by a crash
)

// NewBlobs opens a folder, and creates it if it is absent. It deletes incomplete files that were last written more than an hour ago,
// because a crash has left them. Several processes may use one folder.
func NewBlobs(folder string) (*Blobs, error) {
	root, err := openFolder(audio, folder)
	if err != nil {
		return nil, err
	}
	b := &Blobs{root: root}
	if err := errors.Join(root.MkdirAll(incoming, folderMode), b.sweep(time.Now().Add(-stale))); err != nil {
		_ = root.Close()
		return nil, coded(audio, fmt.Errorf("audio: %w", err))
	}
	return b, nil
}

// sweep deletes the files in incoming that were last written before the given time.
func (b *Blobs) sweep(before time.Time) error {
	folder, err := b.root.Open(incoming)
	if err != nil {
		return err
	}
	defer folder.Close()
	files, err := folder.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.ModTime().Before(before) {
			continue // the file was just renamed, or is being written
		}
		if err := b.root.Remove(filepath.Join(incoming, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Close releases the handle of the folder. It deletes nothing.
func (b *Blobs) Close() error { return b.root.Close() }

// place returns the paths of the folder and the file of audio. It returns an error if org or name is not plain.
func place(org callwright.OrgID, name string) (folder, file string, err error) {
	if err := checkNames(audio, org, name); err != nil {
		return "", "", err
	}
	folder = filepath.Join(string(org), name[max(0, len(name)-2):])
	return folder, filepath.Join(folder, name+".wav"), nil
}

// StoreBlob stores exactly size bytes of r as a file. It returns CodeUnavailable if the disk is full, and another error if r yields more or
// fewer bytes. After an error, no file is left.
func (b *Blobs) StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
	folder, file, err := place(org, name)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	part := filepath.Join(incoming, rand.Text())
	f, err := b.root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return coded(audio, fmt.Errorf("audio: %w", err))
	}
	if err = fill(ctx, f, r, size); err == nil {
		err = b.publish(part, folder, file)
	}
	if err != nil {
		_ = b.root.Remove(part)
	}
	return err
}

// fill writes exactly size bytes of r to a file, syncs the file to disk, and closes it. It returns an error if r yields more or fewer
// bytes.
func fill(ctx context.Context, f *os.File, r io.Reader, size int64) error {
	defer f.Close()
	n, err := io.Copy(f, io.LimitReader(reader{ctx, r}, size+1))
	switch {
	case err != nil:
		return coded(audio, err)
	case n > size:
		return fmt.Errorf("audio: more than the announced %d bytes were received", size)
	case n < size:
		return fmt.Errorf("audio: %d bytes were announced, but only %d were received", size, n)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return coded(audio, fmt.Errorf("audio: %w", err))
	}
	return ctx.Err()
}

// reader is a reader that fails when its context is canceled.
type reader struct {
	ctx context.Context //nolint:containedctx // it lives as long as a call of StoreBlob
	r   io.Reader
}

// Read reads from r, or returns the error of a canceled context.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// publish renames a complete file to its final name, and syncs the folder to disk, including the parents of a new folder.
func (b *Blobs) publish(part, folder, file string) error {
	_, err := b.root.Stat(folder)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err = b.root.MkdirAll(folder, folderMode); err == nil {
		err = b.root.Rename(part, file)
	}
	if err != nil {
		return coded(audio, fmt.Errorf("audio: %w", err))
	}
	folders := []string{folder}
	if fresh {
		folders = append(folders, filepath.Dir(folder), ".")
	}
	for _, name := range folders {
		if err := b.sync(name); err != nil {
			_ = b.root.Remove(file)
			return coded(audio, fmt.Errorf("audio: %w", err))
		}
	}
	return nil
}

// sync writes the entries of a folder to disk.
func (b *Blobs) sync(folder string) error {
	f, err := b.root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// OpenBlob opens the file of audio, or returns CodeNotFound if it is absent. It returns an error if the file is shorter than its RIFF
// header states. Reading fails if the file shrinks meanwhile.
func (b *Blobs) OpenBlob(_ context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	_, file, err := place(org, name)
	if err != nil {
		return nil, callwright.NotFound(audio).Because(err)
	}
	f, err := b.root.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, callwright.NotFound(audio)
	}
	if err != nil {
		return nil, fmt.Errorf("audio: %w", err)
	}
	size, err := wholeSize(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("audio: %w", err)
	}
	return blob{io.NewSectionReader(watched{f}, 0, size), f}, nil
}

// wholeSize returns the size of a file in bytes. It returns an error if a RIFF header states a larger size. One missing byte is allowed,
// because the padding of an odd chunk may be absent.
func wholeSize(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var header [8]byte
	if _, err := f.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	declared := binary.LittleEndian.Uint32(header[4:])
	if string(header[:4]) == "RIFF" && declared != 1<<32-1 && int64(declared)+int64(len(header)) > info.Size()+1 {
		return 0, fmt.Errorf("the file %s is truncated: it contains %d bytes instead of %d", f.Name(), info.Size(), int64(declared)+int64(len(header)))
	}
	return info.Size(), nil
}

// blob is an open file of audio.
type blob struct {
	*io.SectionReader

	f *os.File
}

// Close closes the underlying file.
func (b blob) Close() error { return b.f.Close() }

// watched is a reader of a file whose size was determined when it was opened.
type watched struct{ f *os.File }

// ReadAt returns an error that wraps io.ErrUnexpectedEOF if the file ends before p is full, because the file was then truncated meanwhile.
func (w watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) && n < len(p) {
		return n, fmt.Errorf("audio: the file was cut off while it was read: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// DeleteBlob deletes the file of audio. It returns nil if the file is absent. Open readers can still read it to the end.
func (b *Blobs) DeleteBlob(_ context.Context, org callwright.OrgID, name string) error {
	_, file, err := place(org, name)
	if err != nil {
		return nil //nolint:nilerr // no such audio is kept
	}
	if err := b.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("audio: %w", err)
	}
	return nil
}
