package pcm_test

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// TestG711AgreesWithSox compares both laws with sox for every sample and every byte.
func TestG711AgreesWithSox(t *testing.T) {
	t.Parallel()
	all, codes := make([]int16, 0, 1<<16), make([]byte, 256)
	for s := math.MinInt16; s <= math.MaxInt16; s++ {
		all = append(all, int16(s))
	}
	for i := range codes {
		codes[i] = byte(i)
	}
	linear := []string{"-t", "raw", "-r", "8000", "-c", "1", "-e", "signed-integer", "-b", "16", "-L"}
	for law, tt := range map[string]struct {
		encode func([]byte, []int16) []byte
		decode func([]int16, []byte) []int16
	}{"mu-law": {pcm.AppendMuLaw, pcm.FromMuLaw}, "a-law": {pcm.AppendALaw, pcm.FromALaw}} {
		coded := []string{"-t", "raw", "-r", "8000", "-c", "1", "-e", law, "-b", "8"}
		convert := func(input []byte, from, to []string) []byte {
			return filter(t, input, "sox", slices.Concat([]string{"-D"}, from, []string{"-"}, to, []string{"-"})...)
		}
		got, want := tt.decode(nil, codes), pcm.AppendSamples(nil, convert(codes, coded, linear))
		if !slices.Equal(got, want) {
			t.Errorf("%s: decodes to %v, sox to %v", law, got, want)
		}
		// Encoders may differ at the edge of an interval, but by at most one step.
		ours, theirs := tt.decode(nil, tt.encode(nil, all)), tt.decode(nil, convert(pcm.AppendBytes(nil, all), linear, coded))
		for i, s := range all {
			half := max(16, math.Abs(float64(s))/23)
			if math.Abs(float64(ours[i])-float64(theirs[i])) > 2*half+1 || math.Abs(float64(ours[i])-float64(s)) > half+1 && s < 32000 && s > -32000 {
				t.Fatalf("%s: %d becomes %d, by sox %d", law, s, ours[i], theirs[i])
			}
		}
	}
}

// TestWriteMuLawWAV checks that ReadWAV reads the written files, and that sox and ffprobe read the files that contain audio.
func TestWriteMuLawWAV(t *testing.T) {
	t.Parallel()
	for name, audio := range map[string]pcm.Audio{
		"even":   {Rate: 8000, Channels: 1, Samples: tone(440, 8000, 8000)},
		"odd":    {Rate: 8000, Channels: 1, Samples: tone(440, 8000, 8001)},
		"stereo": {Rate: 16000, Channels: 2, Samples: tone(440, 16000, 16002)},
		"empty":  {Rate: 8000, Channels: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "audio.wav")
			raw := write(t, path, func(file *bytes.Buffer) error { return pcm.WriteMuLawWAV(file, audio) })
			want := pcm.FromMuLaw(nil, pcm.AppendMuLaw(nil, audio.Samples))
			got, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<20)
			if err != nil || got.Rate != audio.Rate || got.Channels != audio.Channels || !slices.Equal(got.Samples, want) {
				t.Errorf("read %d samples at %d, %v", len(got.Samples), got.Rate, err)
			}
			if len(raw)%2 != 0 {
				t.Errorf("%d bytes: the last chunk is not padded", len(raw))
			}
			if len(audio.Samples) == 0 {
				return // sox and ffprobe refuse empty files
			}
			theirs := filter(t, nil, "sox", path, "-t", "raw", "-e", "signed-integer", "-b", "16", "-L", "-")
			if !slices.Equal(pcm.AppendSamples(nil, theirs), want) {
				t.Error("sox reads other samples")
			}
			printed := run(t, "ffprobe", "-v", "warning", "-show_entries", "stream=codec_name,sample_rate,channels,duration_ts", "-of", "compact=p=0", path)
			for _, part := range []string{"codec_name=pcm_mulaw", "sample_rate=8000|channels=1", "sample_rate=16000|channels=2"} {
				if strings.HasPrefix(part, "sample") && strings.HasSuffix(part, "2") != (audio.Channels == 2) {
					continue
				}
				if !strings.Contains(printed, part) {
					t.Errorf("ffprobe prints %s without %s", printed, part)
				}
			}
			if strings.Count(printed, "\n") != 1 {
				t.Errorf("ffprobe warns: %s", printed)
			}
		})
	}
	for _, bad := range []pcm.Audio{{Rate: 8000}, {Rate: 1, Channels: 1}} {
		if err := pcm.WriteMuLawWAV(&bytes.Buffer{}, bad); err == nil {
			t.Errorf("%+v is written", bad)
		}
	}
}

// TestReadWAVOfSox checks that ReadWAV reads files of both laws written by sox.
func TestReadWAVOfSox(t *testing.T) {
	t.Parallel()
	samples := tone(440, 8000, 4001)
	for law, want := range map[string][]int16{
		"mu-law": pcm.FromMuLaw(nil, pcm.AppendMuLaw(nil, samples)),
		"a-law":  pcm.FromALaw(nil, pcm.AppendALaw(nil, samples)),
	} {
		raw := filter(t, nil, "sox", "-D", save(t, samples, 8000), "-e", law, "-b", "8", "-t", "wav", "-")
		got, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<20)
		if err != nil || len(got.Samples) != len(want) {
			t.Fatalf("%s: %d samples of %d, %v", law, len(got.Samples), len(want), err)
		}
		// If sox rounds differently, the samples differ by a step.
		for i, s := range got.Samples {
			if d := math.Abs(float64(s) - float64(want[i])); d > math.Abs(float64(s))/16+16 {
				t.Fatalf("%s: sample %d is %d, want %d", law, i, s, want[i])
			}
		}
	}
}
