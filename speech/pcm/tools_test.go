package pcm_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// run executes an audio program and returns its combined standard output and error. It fails the test if the program fails or is not
// installed.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	printed, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s (scripts/install-deps.sh test installs it)", name, args, err, printed)
	}
	return string(printed)
}

// filter passes input to a program and returns the program's standard output.
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

// save writes mono audio to a temporary WAV file and returns its path.
func save(t *testing.T, samples []int16, rate int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audio.wav")
	write(t, path, func(file *bytes.Buffer) error {
		return pcm.WriteWAV(file, pcm.Audio{Rate: rate, Channels: 1, Samples: samples})
	})
	return path
}
