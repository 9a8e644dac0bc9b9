package flite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParseSegments(t *testing.T) {
	t.Parallel()
	const printed = "pau:0.200 ah:0.300 pau:0.500 \npau:0.200 b:0.400 pau:0.600 \n"
	for length, want := range map[float64][]float64{
		1.1: {0.2, 0.3, 0.5, 0.7, 0.9, 1.1},
		2:   {0.2, 0.3, 0.5, 0.7, 0.9, 1.1},
		0.9: {0.2, 0.3, 0.4, 0.6, 0.8, 0.9}, // both last pauses are shorter
	} {
		var got []float64
		for _, s := range parseSegments([]byte(printed), length) {
			got = append(got, s.end)
		}
		if fmt.Sprintf("%.3f", got) != fmt.Sprintf("%.3f", want) {
			t.Errorf("audio of %g s: %.3f, want %.3f", length, got, want)
		}
	}
	for _, other := range []string{"", "good morning", "a:1 b:0.5", "a:NaN", "a:-1", "a:1e300", "a:", ":"} {
		if got := parseSegments([]byte(other), 1); len(got) > 0 {
			t.Errorf("%q becomes %v", other, got)
		}
	}
}

// TestAlign checks the alignment of words whose pronunciation in a sentence differs from that of the words alone.
func TestAlign(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ words, segments, want string }{
		{"g uh d|m ao r n ih ng", "pau g uh d m ao r n ih ng pau", "-000111111-"},
		{"dh ax|eh n d", "pau dh iy eh n d pau", "-00111-"},
		{"d r ay v|s m ih th", "pau d aa k t er s m ih th pau", "-000001111-"},
		{"ey|b iy|s iy", "ax pau b iy s iy", "0-1122"},
		{"f ay v pau f ay v|ow", "f ay v pau f ay v pau ow", "000-000-1"},
		{"hh ay||dh eh r", "pau hh ay pau dh eh r", "-00-222"},
		{"ah|b", "ah k b", "001"},
		{"ah|b", "ah pau k b", "0-11"},
		{"ah", "pau pau", "--"},
	} {
		var phones []phone
		for i, w := range strings.Split(c.words, "|") {
			for name := range strings.FieldsSeq(w) {
				if name != pause {
					phones = append(phones, phone{name, i})
				}
			}
		}
		var segments []segment
		for i, name := range strings.Fields(c.segments) {
			segments = append(segments, segment{name, float64(i + 1)})
		}
		var got strings.Builder
		for _, number := range align(phones, segments) {
			if number < 0 {
				got.WriteByte('-')
				continue
			}
			fmt.Fprint(&got, number)
		}
		if got.String() != c.want {
			t.Errorf("%q as %q: %s, want %s", c.words, c.segments, got.String(), c.want)
		}
	}
	if got := align(make([]phone, 3000), make([]segment, 3000)); got != nil {
		t.Error("an alignment of 9 million cells is not refused")
	}
}

// TestAlignRandomly checks that words of any alignment are in order, and that no pause belongs to a word.
func TestAlignRandomly(t *testing.T) {
	t.Parallel()
	names := []string{"pau", "aa", "iy", "t", "s", "n"}
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var phones []phone
		for word := range random.IntN(5) {
			for range random.IntN(4) {
				phones = append(phones, phone{names[1+random.IntN(5)], word})
			}
		}
		segments := make([]segment, random.IntN(20))
		for i := range segments {
			segments[i] = segment{names[random.IntN(6)], float64(i + 1)}
		}
		spoken := align(phones, segments)
		if len(phones) > 0 && len(spoken) != len(segments) {
			t.Fatalf("seed %d: %d segments, %v", seed, len(segments), spoken)
		}
		for i, number := range spoken {
			if number >= 0 && segments[i].phone == pause {
				t.Errorf("seed %d: a pause belongs to a word: %v", seed, spoken)
			}
		}
		words := slices.DeleteFunc(slices.Clone(spoken), func(n int) bool { return n < 0 })
		if !slices.IsSorted(words) {
			t.Errorf("seed %d: words out of order: %v", seed, spoken)
		}
	}
}
