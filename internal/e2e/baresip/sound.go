package baresip

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/speech/pcm"
)

// longestHeard is the maximum length of a received recording in samples.
const longestHeard = 10 * 60 * 48000

// Say starts to play mono audio into the call, followed by silence. It returns immediately.
func (p *Phone) Say(t testing.TB, audio pcm.Audio) {
	t.Helper()
	samples, err := pcm.Resample(audio.Mono(), audio.Rate, p.rate)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := filepath.Glob(filepath.Join(p.home, "say-*.wav")) // fails only for an invalid pattern
	path := filepath.Join(p.home, fmt.Sprintf("say-%d.wav", len(said)))
	writeWAV(t, path, p.rate, append(samples, make([]int16, silentSeconds*p.rate)...))
	p.Do(t, "ausrc", "aufile,"+path)
}

// Heard waits until the phone's calls have ended, because baresip then completes its files. It returns all received audio, resampled to
// Rate.
func (p *Phone) Heard(t testing.TB) pcm.Audio {
	t.Helper()
	heard := pcm.Audio{Rate: Rate, Channels: 1}
	for _, path := range p.recordings(t) {
		heard.Samples = append(heard.Samples, readWAV(t, path).Samples...)
	}
	return heard
}

// recordings waits until the calls have ended, and returns the paths of the files with received audio, oldest first.
func (p *Phone) recordings(t testing.TB) []string {
	t.Helper()
	await.That(t, "baresip's calls to end", func() bool {
		return len(p.Events("CALL_CLOSED")) > 0 && !strings.Contains(p.Do(t, "listcalls"), "ESTABLISHED")
	})
	paths, _ := filepath.Glob(filepath.Join(p.home, "dump-*-dec.wav")) // fails only for an invalid pattern
	slices.Sort(paths)
	return paths
}

// Hears waits until the phone has received audio of duration d in total, silence included. With a wideband codec it returns earlier,
// because it expects files with the sample rate Rate.
func (p *Phone) Hears(t testing.TB, d time.Duration) {
	t.Helper()
	await.That(t, fmt.Sprintf("baresip to hear %v", d), func() bool { return p.received() >= d })
}

// HearsMore waits until the phone has received further audio of duration d, silence included.
func (p *Phone) HearsMore(t testing.TB, d time.Duration) {
	t.Helper()
	p.Hears(t, p.received()+d)
}

// received returns the duration of the received audio that the phone has written to its files.
func (p *Phone) received() time.Duration {
	const bytes = 2
	paths, _ := filepath.Glob(filepath.Join(p.home, "dump-*-dec.wav")) // fails only for an invalid pattern
	size := int64(0)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	return time.Duration(size) * time.Second / (bytes * Rate)
}

func readWAV(t testing.TB, path string) pcm.Audio {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	audio, err := pcm.ReadWAV(f, longestHeard)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	narrow, err := pcm.Resample(audio.Mono(), audio.Rate, Rate) // the files of wideband codecs have another sample rate
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return pcm.Audio{Rate: Rate, Channels: 1, Samples: narrow}
}
