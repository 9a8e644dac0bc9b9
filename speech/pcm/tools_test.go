package pcm_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// run runs one of the audio programs that scripts/install-deps.sh test installs, and returns both its outputs.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	printed, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s (scripts/install-deps.sh test installs it)", name, args, err, printed)
	}
	return string(printed)
}

// filter pipes bytes through a program.
func filter(t *testing.T, input []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &complaint
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v: %s (scripts/install-deps.sh test installs it)", name, args, err, complaint.String())
	}
	return printed
}

// save writes mono audio to a file of this test.
func save(t *testing.T, samples []int16, rate int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audio.wav")
	write(t, path, func(file *bytes.Buffer) error {
		return pcm.WriteWAV(file, pcm.Audio{Rate: rate, Channels: 1, Samples: samples})
	})
	return path
}
