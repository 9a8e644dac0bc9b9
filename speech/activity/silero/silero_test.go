package silero_test

import (
	"encoding/base64"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/speech/activity/silero"
)

// vector is an input window, and the probability that onnxruntime computed for it.
type vector struct {
	window []float32
	want   float32
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/parity.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	for line := range strings.Lines(string(text)) {
		code, probability, _ := strings.Cut(strings.TrimSpace(line), " ")
		coded, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		want, err := strconv.ParseFloat(probability, 32)
		if err != nil {
			t.Fatal(err)
		}
		v := vector{want: float32(want)}
		for _, c := range coded {
			v.window = append(v.window, mulaw(c))
		}
		out = append(out, v)
	}
	return out
}

// mulaw decodes a sample (ITU-T G.711) to a number between -1 and 1.
func mulaw(code byte) float32 {
	code = ^code
	v := (int(code&15)<<3+132)<<(code>>4&7) - 132
	if code&0x80 != 0 {
		v = -v
	}
	return float32(v) / 32768
}

// TestParity compares the probabilities with those of onnxruntime, and checks that no decision differs.
func TestParity(t *testing.T) {
	t.Parallel()
	n := silero.New()
	for range 2 { // the second round checks Reset
		worst, differ, speech := 0.0, 0, 0
		all := vectors(t)
		for _, v := range all {
			got := n.Probability(v.window)
			worst = max(worst, math.Abs(float64(got-v.want)))
			if (got > 0.5) != (v.want > 0.5) {
				differ++
			}
			if got > 0.5 {
				speech++
			}
		}
		t.Logf("%d windows, %d with speech: the worst difference is %.5f", len(all), speech, worst)
		if worst > 0.01 || differ > 0 || speech < len(all)/4 || speech > len(all)*3/4 {
			t.Errorf("the worst difference is %.5f, %d decisions differ, and %d of %d windows contain speech", worst, differ, speech, len(all))
		}
		n.Reset()
	}
}

func TestAllocations(t *testing.T) {
	n := silero.New()
	all := vectors(t)
	i := 0
	if allocations := testing.AllocsPerRun(100, func() {
		n.Probability(all[i%len(all)].window)
		i++
	}); allocations != 0 {
		t.Errorf("%v allocations per window", allocations)
	}
}

// BenchmarkProbability measures one window, which lasts 32 ms.
func BenchmarkProbability(b *testing.B) {
	n := silero.New()
	all := vectors(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		n.Probability(all[i%len(all)].window)
		i++
	}
}
