package filestore_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/filestore"
)

// TestFullDisk writes a recording to /dev/full, where each write fails as on a full disk: every method of writing returns CodeUnavailable.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	device, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := filestore.NewFile(device)
	defer f.Close()
	for name, write := range map[string]func() error{
		"Write":          func() error { _, err := f.Write([]byte("RIFF")); return err },
		"io.WriteString": func() error { _, err := io.WriteString(f, "RIFF"); return err },
		"io.Copy":        func() error { _, err := io.Copy(f, strings.NewReader("RIFF")); return err },
	} {
		err := write()
		if !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != "the disk for recordings is full, or its quota is used up: free some space" || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s gave %v", name, err)
		}
	}
}

// TestFullDiskForAudio writes a sample to /dev/full, where each write fails as on a full disk: fill returns CodeUnavailable.
func TestFullDiskForAudio(t *testing.T) {
	t.Parallel()
	device, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = filestore.Fill(t.Context(), device, strings.NewReader("RIFF"), 4)
	if !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != "the disk for audio is full, or its quota is used up: free some space" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("gave %v", err)
	}
}
