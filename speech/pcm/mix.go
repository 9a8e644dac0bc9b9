package pcm

import "math"

// MixLoop adds samples of an endlessly repeated loop to dst, beginning at a position of the loop, and returns the position behind them. Sums
// are limited to the range of int16. An empty loop changes nothing.
func MixLoop(dst, loop []int16, at int) int {
	if len(loop) == 0 {
		return at
	}
	at %= len(loop)
	for i := range dst {
		dst[i] = int16(min(max(int(dst[i])+int(loop[at]), math.MinInt16), math.MaxInt16))
		if at++; at == len(loop) {
			at = 0
		}
	}
	return at
}
