package filestore_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
)

func openBlobs(t *testing.T, folder string) *filestore.Blobs {
	t.Helper()
	b, err := filestore.NewBlobs(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestBlobsConformance(t *testing.T) {
	t.Parallel()
	folders := t.TempDir()
	speechtest.RunBlobs(t, func(t *testing.T) speech.Blobs {
		t.Helper()
		return openBlobs(t, filepath.Join(folders, strings.ReplaceAll(t.Name(), "/", "_")))
	}, func(t *testing.T, _ speech.Blobs, org callwright.OrgID, name string) {
		t.Helper()
		path := filepath.Join(folders, strings.ReplaceAll(t.Name(), "/", "_"), string(org), name[len(name)-2:], name+".wav")
		if err := os.Truncate(path, 50_000); err != nil {
			t.Fatal(err)
		}
	})
}

// names returns the modes of a folder and of all files and folders below it, by their relative paths.
func names(t *testing.T, folder string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if name, relErr := filepath.Rel(folder, path); relErr == nil && err == nil {
			all[name] = info.Mode()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBlobsArePrivateFiles checks that only the owner can access the files, and that incomplete audio leaves no file.
func TestBlobsArePrivateFiles(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "audio")
	b := openBlobs(t, folder)
	for name, size := range map[string]int64{"kept_01": 5, "lost_01": 6} {
		if err := b.StoreBlob(t.Context(), "org", name, strings.NewReader("audio"), size); (err == nil) != (size == 5) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	want := map[string]fs.FileMode{
		".": fs.ModeDir | 0o700, ".incoming": fs.ModeDir | 0o700, "org": fs.ModeDir | 0o700, "org/01": fs.ModeDir | 0o700, "org/01/kept_01.wav": 0o600,
	}
	got := names(t, folder)
	for name, mode := range got {
		if mode != want[name] {
			t.Errorf("%s has the mode %v, want %v", name, mode, want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %v", got)
	}
	if raw, err := os.ReadFile(filepath.Join(folder, "org/01/kept_01.wav")); err != nil || string(raw) != "audio" {
		t.Errorf("the file has %q, %v", raw, err)
	}
}

// TestBlobsSweep checks that opening a folder deletes old incomplete files, but no recent or complete ones.
func TestBlobsSweep(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	b := openBlobs(t, folder)
	if err := b.StoreBlob(t.Context(), "org", "name", strings.NewReader("audio"), 5); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(folder, "org", "me", "name.wav")
	for path, age := range map[string]time.Duration{"old": 2 * time.Hour, "young": time.Minute, kept: 1000 * time.Hour} {
		if path != kept {
			path = filepath.Join(folder, ".incoming", path)
			if err := os.WriteFile(path, []byte("part"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	openBlobs(t, folder)
	got := names(t, folder)
	if _, there := got[".incoming/old"]; there {
		t.Error("an old part is left")
	}
	for _, name := range []string{".incoming/young", "org/me/name.wav"} {
		if _, there := got[name]; !there {
			t.Errorf("%s was removed", name)
		}
	}
}

// TestBlobsStayInTheirFolder checks that no method follows a symbolic link that leads out of the folder.
func TestBlobsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	folder, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.wav"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openBlobs(t, folder)
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "org"), 0o700), os.Symlink(outside, filepath.Join(folder, "org", "et"))); err != nil {
		t.Fatal(err)
	}
	if f, err := b.OpenBlob(t.Context(), "org", "secret"); err == nil {
		raw, _ := io.ReadAll(f)
		_ = f.Close()
		t.Errorf("opened %q outside of the folder", raw)
	}
	if err := b.StoreBlob(t.Context(), "org", "secret", bytes.NewReader(nil), 0); err == nil {
		t.Error("wrote outside of the folder")
	}
	if err := b.DeleteBlob(t.Context(), "org", "secret"); err == nil {
		t.Error("deleted outside of the folder")
	}
	if raw, err := os.ReadFile(filepath.Join(outside, "secret.wav")); err != nil || string(raw) != "secret" {
		t.Errorf("the file outside has %q, %v", raw, err)
	}
}

func TestNewBlobsNeedsAFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filestore.NewBlobs(path); err == nil {
		t.Error("a file was taken for a folder")
	}
}
