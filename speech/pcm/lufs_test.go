package pcm_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// ebur128 returns the loudness in LUFS that ffmpeg measures at 48 kHz, the rate of the filter in BS.1770.
func ebur128(t *testing.T, samples []int16, rate int) float64 {
	t.Helper()
	printed := run(t, "ffmpeg", "-hide_banner", "-nostats", "-i", save(t, samples, rate), "-af", "aresample=48000,ebur128", "-f", "null", "-")
	found := regexp.MustCompile(`I: +(-?[0-9.]+) LUFS`).FindAllStringSubmatch(printed, -1)
	if len(found) == 0 {
		t.Fatalf("ffmpeg printed %s", printed)
	}
	loudness, err := strconv.ParseFloat(found[len(found)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return loudness
}

// fliteSpeech returns two sentences spoken by flite.
func fliteSpeech(t *testing.T) pcm.Audio {
	t.Helper()
	path := filepath.Join(t.TempDir(), "speech.wav")
	run(t, "flite", "-voice", "slt", "-t", "The shop opens at nine. On Sundays it is closed, but the door is open.\n", "-o", path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	audio, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return audio
}

// hiss returns low-frequency noise, whose loudness resampling changes little.
func hiss(seconds, rate int) []int16 {
	out, random, slow := make([]int16, seconds*rate), rand.New(rand.NewPCG(1, 2)), 0.0
	for i := range out {
		slow = 0.9*slow + random.NormFloat64()*1000
		out[i] = int16(slow)
	}
	return out
}

// TestLUFSAgreesWithFFmpeg checks that LUFS differs from ffmpeg's measurement by at most 0.3 LU, which is inaudible.
func TestLUFSAgreesWithFFmpeg(t *testing.T) {
	t.Parallel()
	speech := fliteSpeech(t)
	for _, rate := range []int{8000, 11025, 22050, 48000} {
		spoken, err := pcm.Resample(speech.Samples, speech.Rate, rate)
		if err != nil {
			t.Fatal(err)
		}
		quiet := slices.Clone(spoken)
		pcm.Amplify(quiet, -25)
		signals := map[string][]int16{"speech": spoken, "noise": hiss(3, rate)}
		if rate == 8000 {
			signals["a long pause"], signals["quiet and loud"] = slices.Concat(spoken, make([]int16, 5*rate), spoken), slices.Concat(quiet, spoken)
			signals["100 Hz"], signals["3 kHz"] = tone(100, rate, 2*rate), tone(3000, rate, 2*rate)
		}
		for name, samples := range signals {
			got, want := pcm.LUFS(samples, rate), ebur128(t, samples, rate)
			t.Logf("%d %s: %.2f, ffmpeg %.1f", rate, name, got, want)
			if math.Abs(got-want) > 0.3 {
				t.Errorf("%s at %d: %.2f LUFS, ffmpeg measures %.1f", name, rate, got, want)
			}
		}
	}
}

// TestLUFSOfTheRecommendation checks the reference of BS.1770-4 at many rates: a sine of 997 Hz at full scale in one channel has -3.01
// LUFS.
func TestLUFSOfTheRecommendation(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{4000, 6000, 8000, 16000, 32000, 44100, 48000, 96000, 192000} {
		sine := make([]int16, 2*rate)
		for i := range sine {
			sine[i] = int16(math.Round(32767 * math.Sin(2*math.Pi*997*float64(i)/float64(rate))))
		}
		tolerance := 0.05
		if rate < 8000 {
			tolerance = 0.15
		}
		if got := pcm.LUFS(sine, rate); math.Abs(got+3.01) > tolerance {
			t.Errorf("%d: %.3f LUFS, want -3.01", rate, got)
		}
	}
}

func TestLUFSOfLittle(t *testing.T) {
	t.Parallel()
	faint := slices.Repeat([]int16{1, -1}, 8000)
	for name, tt := range map[string]struct {
		samples []int16
		rate    int
		want    float64
	}{
		"nothing":          {nil, 8000, pcm.SilenceDB},
		"silence":          {make([]int16, 8000), 8000, pcm.SilenceDB},
		"below the gate":   {faint, 8000, pcm.SilenceDB},
		"no rate":          {tone(1000, 8000, 8000), 0, pcm.SilenceDB},
		"a rate too high":  {tone(1000, 8000, 8000), pcm.MaxRate + 1, pcm.SilenceDB},
		"50 ms":            {tone(1000, 8000, 400), 8000, pcm.LUFS(tone(1000, 8000, 8000), 8000)},
		"399 ms":           {tone(1000, 8000, 3192), 8000, pcm.LUFS(tone(1000, 8000, 8000), 8000)},
		"one block":        {tone(1000, 8000, 3200), 8000, pcm.LUFS(tone(1000, 8000, 8000), 8000)},
		"an odd remainder": {tone(1000, 8000, 3999), 8000, pcm.LUFS(tone(1000, 8000, 8000), 8000)},
	} {
		if got := pcm.LUFS(tt.samples, tt.rate); math.Abs(got-tt.want) > 0.3 {
			t.Errorf("%s: %.2f LUFS, want %.2f", name, got, tt.want)
		}
	}
	if got := pcm.LUFS([]int16{20000}, 8000); math.IsNaN(got) || math.IsInf(got, 0) {
		t.Errorf("one sample: %v", got)
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	loud, soft, faint := tone(1000, 16000, 16000), tone(1000, 16000, 16000), tone(1000, 16000, 16000)
	pcm.Amplify(soft, -10)
	pcm.Amplify(faint, -47)
	click := slices.Clone(soft)
	click[8000] = math.MaxInt16
	full := slices.Repeat([]int16{math.MaxInt16, math.MinInt16}, 8000)
	for name, tt := range map[string]struct {
		samples []int16
		target  float64
		want    float64 // LUFS after Normalize
	}{
		"up":                        {soft, -20, -20},
		"down":                      {loud, -30, -30},
		"over the peak":             {loud, 0, -4},
		"a click keeps it down":     {click, -10, pcm.LUFS(soft, 16000) - 1},
		"at most the largest boost": {faint, -20, pcm.LUFS(faint, 16000) + pcm.MaxBoost},
		"full scale comes down":     {full, 10, pcm.LUFS(full, 16000) - 1},
		"silence stays":             {make([]int16, 8000), -16, pcm.SilenceDB},
		"nothing":                   {nil, -16, pcm.SilenceDB},
		"no target":                 {loud, math.NaN(), pcm.LUFS(loud, 16000)},
	} {
		samples := slices.Clone(tt.samples)
		before := pcm.LUFS(samples, 16000)
		gain := pcm.Normalize(samples, 16000, tt.target)
		got := pcm.LUFS(samples, 16000)
		if math.Abs(got-tt.want) > 0.2 || math.Abs(got-before-gain) > 0.2 || gain != 0 && pcm.Peak(samples) > pcm.MaxPeak+0.001 {
			t.Errorf("%s: %.2f LUFS with a peak of %.2f after a gain of %.2f, want %.2f LUFS", name, got, pcm.Peak(samples), gain, tt.want)
		}
	}
}

func BenchmarkLUFS(b *testing.B) {
	samples := tone(1000, 16000, 160000)
	b.SetBytes(int64(len(samples)) * 2)
	for b.Loop() {
		pcm.LUFS(samples, 16000)
	}
}
