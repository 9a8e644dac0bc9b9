package stats

import "math"

// Interval is a confidence interval of a rate.
type Interval struct{ Low, High float64 }

// z95 is the quantile of the standard normal distribution for a two-sided 95 % interval.
const z95 = 1.959963984540054

// Wilson returns the 95 % confidence interval of the rate of passes among n runs, by Wilson's score. It returns nil if n is 0.
//
// See E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
func Wilson(passes, n int) *Interval {
	if n <= 0 {
		return nil
	}
	p, size := float64(passes)/float64(n), float64(n)
	z2 := z95 * z95
	centre := (p + z2/(2*size)) / (1 + z2/size)
	half := z95 * math.Sqrt(p*(1-p)/size+z2/(4*size*size)) / (1 + z2/size)
	return &Interval{max(0, centre-half), min(1, centre+half)}
}

// Confidence rates how much a number of runs proves.
type Confidence string

// These constants are the values of Confidence: see ConfidenceOf.
const (
	Low    Confidence = "low"
	Medium Confidence = "medium"
	High   Confidence = "high"
)

// ConfidenceOf returns the confidence of n scored runs: Low for fewer than 5, High for 20 or more, else Medium.
func ConfidenceOf(n int) Confidence {
	switch {
	case n < 5:
		return Low
	case n < 20:
		return Medium
	default:
		return High
	}
}

// Stability classifies the consistency of a scenario's results.
type Stability string

// These constants are the values of Stability: see StabilityOf.
const (
	StablePass Stability = "stable_pass"
	StableFail Stability = "stable_fail"
	Flaky      Stability = "flaky"
	Unknown    Stability = "unknown" // fewer than two scored runs
)

// StabilityOf returns the stability of a scenario with this number of passes in n scored runs.
func StabilityOf(passes, n int) Stability {
	switch {
	case n < 2:
		return Unknown
	case passes == n:
		return StablePass
	case passes == 0:
		return StableFail
	default:
		return Flaky
	}
}

// These constants define the test that decides whether failures are more than noise.
const (
	toleratedNoise = 0.02 // expected share of failed runs if agent and scenario are sound
	significance   = 0.05
)

// FlakySignificant reports whether a scenario passed at least once, but failed more often than by chance. It is an exact one-sided binomial
// test, at a significance of 5 %, of n-passes failures against a tolerated rate of 2 %.
func FlakySignificant(passes, n int) bool {
	return passes > 0 && passes < n && tail(n-passes, n, toleratedNoise) < significance
}

// tail returns the probability of at least k successes in n trials, each with the probability p.
func tail(k, n int, p float64) float64 {
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(1, sum)
}

// logChoose returns the logarithm of n choose k.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// AllPass returns the probability that k runs all pass. The unbiased estimate from the passes in n runs is C(passes,k)/C(n,k). ok is false
// if k is less than 1 or more than n.
func AllPass(passes, n, k int) (p float64, ok bool) {
	if k < 1 || n < k {
		return 0, false
	}
	p = 1
	for i := range k {
		p *= max(0, float64(passes-i)) / float64(n-i)
	}
	return p, true
}

// AnyPass returns the probability that at least one of k runs passes: 1 - C(n-passes,k)/C(n,k). ok is false if k is less than 1 or more
// than n.
func AnyPass(passes, n, k int) (p float64, ok bool) {
	none, ok := AllPass(n-passes, n, k)
	return 1 - none, ok
}
