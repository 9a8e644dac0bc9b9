package pcm_test

import (
	"math"
	"slices"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

func TestMixLoop(t *testing.T) {
	t.Parallel()
	dst := []int16{1, math.MaxInt16, math.MinInt16, 4}
	at := pcm.MixLoop(dst, []int16{10, 20, -30}, 1)
	if want := []int16{21, math.MaxInt16 - 30, math.MinInt16 + 10, 24}; !slices.Equal(dst, want) || at != 2 {
		t.Errorf("mixed %v, position %d", dst, at)
	}
	dst = []int16{math.MaxInt16, math.MinInt16}
	pcm.MixLoop(dst, []int16{10, -10}, 0)
	if !slices.Equal(dst, []int16{math.MaxInt16, math.MinInt16}) {
		t.Errorf("a sum wraps around: %v", dst)
	}
	if at := pcm.MixLoop(dst, nil, 7); at != 7 {
		t.Errorf("position %d without a loop", at)
	}
}
