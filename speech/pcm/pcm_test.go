package pcm_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/speech/pcm"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		samples        []int16
		loudness, peak float64
	}{
		"nothing":        {nil, pcm.SilenceDB, pcm.SilenceDB},
		"silence":        {make([]int16, 100), pcm.SilenceDB, pcm.SilenceDB},
		"full scale":     {[]int16{-32768, -32768}, 0, 0},
		"half":           {[]int16{16384, -16384}, -6.02, -6.02},
		"sine":           {tone(1000, 8000, 8000), -10.31 - 3.01, -10.31},
		"smallest sound": {[]int16{1, -1}, -90.31, -90.31},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, p := pcm.Loudness(tt.samples), pcm.Peak(tt.samples); math.Abs(l-tt.loudness) > 0.01 || math.Abs(p-tt.peak) > 0.01 {
				t.Errorf("loudness %.2f and peak %.2f, want %.2f and %.2f", l, p, tt.loudness, tt.peak)
			}
		})
	}
}

func TestAmplifyClips(t *testing.T) {
	t.Parallel()
	samples := []int16{0, 1000, -1000, 30000, -30000}
	pcm.Amplify(samples, 6.0206)
	if want := []int16{0, 2000, -2000, 32767, -32768}; !slices.Equal(samples, want) {
		t.Errorf("got %v, want %v", samples, want)
	}
}

func TestBytesReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Int16()).Draw(t, "samples")
		odd := append(pcm.AppendBytes(nil, want), 9)
		if got := pcm.AppendSamples(nil, odd); !slices.Equal(got, want) {
			t.Fatalf("%v became %v", want, got)
		}
	})
	if got := pcm.AppendBytes(nil, []int16{0x1234, -1}); !slices.Equal(got, []byte{0x34, 0x12, 0xFF, 0xFF}) {
		t.Errorf("bytes % x are not little-endian", got)
	}
}

func TestAudio(t *testing.T) {
	t.Parallel()
	stereo := pcm.Audio{Rate: 2, Channels: 2, Samples: []int16{1, 3, -32768, -32768, 5}}
	if got := stereo.Mono(); !slices.Equal(got, []int16{2, -32768}) {
		t.Errorf("mono %v", got)
	}
	if got := stereo.Channel(1); !slices.Equal(got, []int16{3, -32768}) {
		t.Errorf("right %v", got)
	}
	if stereo.Channel(2) != nil || stereo.Channel(-1) != nil {
		t.Error("a channel that is not there")
	}
	if d := stereo.Duration(); d != time.Second {
		t.Errorf("duration %v", d)
	}
	if d := (pcm.Audio{}).Duration(); d != 0 {
		t.Errorf("nothing lasts %v", d)
	}
	if n := pcm.Samples(pcm.FrameDuration, 44100); n != 882 || pcm.FrameSamples(44100) != n {
		t.Errorf("a frame has %d samples", n)
	}
}
