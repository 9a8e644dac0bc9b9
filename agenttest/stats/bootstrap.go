package stats

import (
	"math/rand/v2"
	"slices"
)

// draws is the number of samples that Bootstrap draws with replacement.
const draws = 2000

// Bootstrap returns the 95 % confidence interval of the mean of scenarios' pass rates, or nil without scenarios. It draws scenarios, not
// runs, because runs of one scenario are not independent. The draws are deterministic. For a single scenario, the interval has no width.
func Bootstrap(rates []float64) *Interval {
	if len(rates) == 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // has to be the same every time
	means := make([]float64, draws)
	for i := range means {
		sum := 0.0
		for range rates {
			sum += rates[random.IntN(len(rates))]
		}
		means[i] = sum / float64(len(rates))
	}
	slices.Sort(means)
	const tail = draws / 40 // 2.5 %
	return &Interval{max(0, means[tail]), min(1, means[draws-1-tail])}
}
