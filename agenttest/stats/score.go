package stats

import (
	"math"
	"slices"
)

// Scores summarizes the scores of runs. A value is nil if there are too few scores for it.
type Scores struct {
	Mean, Median, Min, Max *float64
	StdDev                 *float64 // standard deviation of the sample; requires two scores
}

// ScoresOf returns the summary of scores, whose order does not matter.
func ScoresOf(scores []float64) Scores {
	n := len(scores)
	if n == 0 {
		return Scores{}
	}
	sorted := slices.Sorted(slices.Values(scores))
	mean := meanOf(sorted)
	median := (sorted[(n-1)/2] + sorted[n/2]) / 2
	out := Scores{Mean: &mean, Median: &median, Min: &sorted[0], Max: &sorted[n-1]}
	if n > 1 {
		squares := 0.0
		for _, s := range sorted {
			squares += (s - mean) * (s - mean)
		}
		deviation := math.Sqrt(squares / float64(n-1))
		out.StdDev = &deviation
	}
	return out
}

// meanOf returns the mean of sorted values. They must be sorted, so that their order does not change the result. Rounding never moves the
// mean beyond the lowest or the highest value.
func meanOf(sorted []float64) float64 {
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	return min(max(sum/float64(len(sorted)), sorted[0]), sorted[len(sorted)-1])
}
