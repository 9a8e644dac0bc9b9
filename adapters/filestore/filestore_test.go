package filestore_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/filestore"
)

func open(t *testing.T) (*filestore.Recordings, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "recordings")
	r, err := filestore.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, folder
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	r, folder := open(t)
	for _, text := range []string{"a longer first recording, cut off", "second"} {
		f, err := r.Create(t.Context(), "org", "call")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f, err := r.Open(t.Context(), "org", "call")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != "second" {
		t.Errorf("read %q, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(folder, "org", "call.wav"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

func TestForeignAndAbsent(t *testing.T) {
	t.Parallel()
	r, folder := open(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(folder), "secret.wav"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range [][2]string{{"org", "absent"}, {"..", "secret"}, {"org", "../../secret"}, {"org", ""}, {"a/b", "c\x00"}} {
		if _, err := r.Open(t.Context(), callwright.OrgID(name[0]), name[1]); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("open %q gave %v, want not found", name, err)
		}
	}
	if _, err := r.Create(t.Context(), "..", "secret"); err == nil {
		t.Error("a recording was made outside the folder")
	}
}

// TestCoded checks that a full disk and an exhausted quota cause CodeUnavailable, and that other errors stay unchanged.
func TestCoded(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		err := filestore.Coded("recordings", fmt.Errorf("recordings: %w", &fs.PathError{Op: "mkdirat", Path: "org", Err: errno}))
		if !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != "the disk for recordings is full, or its quota is used up: free some space" || !errors.Is(err, errno) {
			t.Errorf("%v became %v", errno, err)
		}
	}
	for _, other := range []error{nil, fs.ErrClosed, &fs.PathError{Op: "write", Path: "org", Err: syscall.EIO}} {
		if err := filestore.Coded("audio", other); !errors.Is(err, other) || errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("%v became %v", other, err)
		}
	}
}
