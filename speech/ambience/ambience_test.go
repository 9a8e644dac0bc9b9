package ambience_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/pcm"
)

var rates = []int{8000, 16000, 48000}

// TestLoops checks the level, the peaks and the seam of every sound.
func TestLoops(t *testing.T) {
	t.Parallel()
	for _, track := range ambience.Tracks() {
		for _, rate := range rates {
			loop := ambience.Loop(track, rate)
			if len(loop) != 24*rate || !track.Known() {
				t.Fatalf("%s at %d Hz: %d samples", track, rate, len(loop))
			}
			level := pcm.Loudness(loop)
			if level < -44 || level > -37 {
				t.Errorf("%s at %d Hz: %.1f dBFS", track, rate, level)
			}
			peak, step, sum := 0, 0, 0
			for i, s := range loop {
				peak = max(peak, abs(int(s)))
				sum += int(s)
				if i > 0 {
					step = max(step, abs(int(s)-int(loop[i-1])))
				}
			}
			if db := 20 * math.Log10(float64(peak)/math.MaxInt16); db > -20 {
				t.Errorf("%s at %d Hz: a peak of %.1f dBFS", track, rate, db)
			}
			if mean := float64(sum) / float64(len(loop)); math.Abs(mean) > 5 {
				t.Errorf("%s at %d Hz: a constant component of %.1f", track, rate, mean)
			}
			if seam := abs(int(loop[0]) - int(loop[len(loop)-1])); seam > step/2 {
				t.Errorf("%s at %d Hz: a step of %d at the seam, of at most %d elsewhere", track, rate, seam, step)
			}
			around := append(slices.Clone(loop[len(loop)-rate/5:]), loop[:rate/5]...)
			if seam := pcm.Loudness(around); math.Abs(seam-level) > 8 {
				t.Errorf("%s at %d Hz: %.1f dBFS at the seam", track, rate, seam)
			}
			t.Logf("%s at %d Hz: %.1f dBFS, peak %d, second by second %.1f", track, rate, level, peak, spread(loop, rate))
		}
	}
}

// TestLoopsHaveNoGap checks that no half second of a sound is silent or stands out.
func TestLoopsHaveNoGap(t *testing.T) {
	t.Parallel()
	for _, track := range ambience.Tracks() {
		loop := ambience.Loop(track, 8000)
		for at := 0; at+4000 <= len(loop); at += 2000 {
			if level := pcm.Loudness(loop[at : at+4000]); level < -56 || level > -30 {
				t.Errorf("%s: %.1f dBFS at %d ms", track, level, at/8)
			}
		}
	}
}

// TestLoopsAreShared checks that the tracks differ, and that all calls with the same track share its samples.
func TestLoopsAreShared(t *testing.T) {
	t.Parallel()
	seen := map[uint64]ambience.Track{}
	for _, track := range ambience.Tracks() {
		hash := fnv.New64a()
		for _, s := range ambience.Loop(track, 8000) {
			_ = binary.Write(hash, binary.LittleEndian, s)
		}
		if other, ok := seen[hash.Sum64()]; ok {
			t.Errorf("%s sounds like %s", track, other)
		}
		seen[hash.Sum64()] = track
		if first, second := ambience.Loop(track, 8000), ambience.Loop(track, 8000); &first[0] != &second[0] {
			t.Errorf("%s: two calls do not share the samples", track)
		}
	}
}

func TestNoLoop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		track ambience.Track
		rate  int
	}{{"", 8000}, {"none", 8000}, {"street", 8000}, {ambience.Office, 0}, {ambience.Office, -8000}, {ambience.Office, 1 << 30}} {
		if loop := ambience.Loop(c.track, c.rate); loop != nil {
			t.Errorf("%q at %d Hz has %d samples", c.track, c.rate, len(loop))
		}
	}
	if ambience.Track("").Known() || ambience.Track("street").Known() {
		t.Error("an unknown track is known")
	}
}

func abs(n int) int { return max(n, -n) }

// spread returns the lowest and the highest level of a second.
func spread(loop []int16, rate int) [2]float64 {
	out := [2]float64{0, -100}
	for at := 0; at < len(loop); at += rate {
		level := pcm.Loudness(loop[at : at+rate])
		out = [2]float64{min(out[0], level), max(out[1], level)}
	}
	return out
}
