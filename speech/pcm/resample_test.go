package pcm_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

var rates = []int{8000, 16000, 22050, 24000, 44100, 48000}

// tone returns n samples of a sine with a frequency in Hz and a peak of 10000.
func tone(hz float64, rate, n int) []int16 {
	samples := make([]int16, n)
	for i := range samples {
		samples[i] = int16(math.Round(10000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return samples
}

func TestResampleKeepsTonesInPlace(t *testing.T) {
	t.Parallel()
	for _, from := range rates {
		for _, to := range rates {
			t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
				t.Parallel()
				for _, hz := range []float64{100, 1000, 3300} {
					got, err := pcm.Resample(tone(hz, from, from), from, to)
					if err != nil {
						t.Fatal(err)
					}
					if len(got) != to {
						t.Fatalf("a second became %d samples, want %d", len(got), to)
					}
					want := tone(hz, to, to)
					for i := to / 10; i < to*9/10; i++ { // without the ends, which ring because the tone begins and ends abruptly
						if d := int(got[i]) - int(want[i]); d < -30 || d > 30 {
							t.Fatalf("%v Hz: sample %d is %d, want %d", hz, i, got[i], want[i])
						}
					}
				}
			})
		}
	}
}

func TestResampleStopsWhatWouldFold(t *testing.T) {
	t.Parallel()
	for _, from := range []int{16000, 24000, 44100, 48000} {
		for _, hz := range []float64{4200, 5000, 7000} {
			got, err := pcm.Resample(tone(hz, from, from), from, 8000)
			if err != nil {
				t.Fatal(err)
			}
			if level := pcm.Loudness(got[800:7200]); level > -70 {
				t.Errorf("%v Hz at %d comes through at %.1f dBFS", hz, from, level)
			}
		}
	}
}

func TestResamplerPiecesMakeNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, to := rapid.SampledFrom(rates).Draw(t, "from"), rapid.SampledFrom(rates).Draw(t, "to")
		samples := rapid.SliceOfN(rapid.Int16(), 0, 3000).Draw(t, "samples")
		whole, err := pcm.Resample(samples, from, to)
		if err != nil {
			t.Fatal(err)
		}
		r, err := pcm.NewResampler(from, to)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second run follows a Flush
			var got []int16
			for rest := samples; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
				got, rest = r.Process(got, rest[:n]), rest[n:]
			}
			if got = r.Flush(got); !slices.Equal(got, whole) {
				t.Fatalf("%d samples in pieces differ from %d at once", len(got), len(whole))
			}
		}
	})
}

func TestResamplerLag(t *testing.T) {
	t.Parallel()
	r, err := pcm.NewResampler(16000, 8000)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for range 50 {
		got += len(r.Process(nil, make([]int16, 320)))
	}
	if want := 8000 - r.Delay()/2; got < want || got > 8000 {
		t.Errorf("after a second %d samples came out, want at least %d", got, want)
	}
}

func TestResamplerAllocatesNothing(t *testing.T) {
	frame, out := tone(440, 48000, 960), make([]int16, 0, 960)
	for _, to := range []int{8000, 16000, 44100, 48000} {
		r, err := pcm.NewResampler(48000, to)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { r.Process(out, frame) }); n != 0 {
			t.Errorf("48000 to %d: %v allocations a frame", to, n)
		}
	}
}

func TestResamplerRefusesRates(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]int{{0, 8000}, {8000, 0}, {-8000, 8000}, {8000, 1 << 30}} {
		if _, err := pcm.NewResampler(pair[0], pair[1]); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%v: error %v", pair, err)
		}
	}
}

func BenchmarkResampler(b *testing.B) {
	for _, pair := range [][2]int{{16000, 8000}, {8000, 16000}, {48000, 8000}, {22050, 8000}, {44100, 16000}} {
		b.Run(fmt.Sprintf("%d to %d", pair[0], pair[1]), func(b *testing.B) {
			frame, out := tone(440, pair[0], pcm.FrameSamples(pair[0])), make([]int16, 0, 2000)
			r, err := pcm.NewResampler(pair[0], pair[1])
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Process(out, frame)
			}
		})
	}
}
