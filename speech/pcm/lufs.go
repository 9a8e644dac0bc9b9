package pcm

import "math"

// Gating of ITU-R BS.1770-4, annex 1: blocks of 400 ms that overlap by 75 %, and two thresholds.
const (
	blockSteps   = 4     // steps of 100 ms in a block
	stepsASecond = 10    // steps begin every 100 ms
	absoluteGate = -70.0 // LUFS
	relativeGate = -10.0 // LU below the mean of the blocks above the absolute gate
	loudnessZero = -0.691
)

// LUFS returns the integrated loudness of mono audio after ITU-R BS.1770-4, in LUFS: a sine of 997 Hz at full scale has -3.01. The
// K-weighting is computed for the rate: between 8 and 48 kHz its response is within 0.05 dB of the recommendation's response at 48
// kHz.
//
// A piece shorter than 400 ms is one block, to which only the absolute gate of -70 LUFS applies; its figure is rough, because the
// ear integrates longer. Audio below the gate, no samples, and a rate outside MinRate to MaxRate are SilenceDB.
func LUFS(samples []int16, rate int) float64 {
	if len(samples) == 0 || rate < MinRate || rate > MaxRate {
		return SilenceDB
	}
	blocks := blockPowers(samples, rate)
	loud, ok := gatedMean(blocks, absoluteGate)
	if !ok {
		return SilenceDB
	}
	if mean, ok := gatedMean(blocks, blockLoudness(loud)+relativeGate); ok {
		loud = mean
	}
	return blockLoudness(loud)
}

// blockPowers returns the mean square of the K-weighted audio in each block. The last incomplete step of 100 ms belongs to no
// block.
func blockPowers(samples []int16, rate int) []float64 {
	shelf, pass := shelfFilter(float64(rate)), highPassFilter(float64(rate))
	edge := func(step int) int { return step * rate / stepsASecond }
	steps := make([]float64, 0, len(samples)*stepsASecond/rate+1)
	sum := 0.0
	for i, s := range samples {
		v := pass.next(shelf.next(float64(s) / fullScale))
		if sum += v * v; i+1 == edge(len(steps)+1) {
			steps, sum = append(steps, sum), 0
		}
	}
	if len(steps) < blockSteps {
		for _, s := range steps {
			sum += s
		}
		return []float64{sum / float64(len(samples))}
	}
	blocks := make([]float64, 0, len(steps)-blockSteps+1)
	for i := blockSteps; i <= len(steps); i++ {
		sum := 0.0
		for _, s := range steps[i-blockSteps : i] {
			sum += s
		}
		blocks = append(blocks, sum/float64(edge(i)-edge(i-blockSteps)))
	}
	return blocks
}

// gatedMean returns the mean power of the blocks that are louder than a gate, and whether any exist.
func gatedMean(blocks []float64, gate float64) (float64, bool) {
	sum, n := 0.0, 0
	for _, power := range blocks {
		if blockLoudness(power) > gate {
			sum += power
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// blockLoudness returns the loudness of a mean square (BS.1770-4, formula 2, with one channel of weight 1).
func blockLoudness(power float64) float64 {
	return loudnessZero + 10*math.Log10(math.Max(power, 1e-20))
}

// Bounds of Normalize.
const (
	MaxPeak      = -1.0  // dBFS: no sample is louder afterwards
	MaxBoost     = 30.0  // dB: quieter audio is noise rather than speech
	MaxReduction = -40.0 // dB
)

// Normalize changes the loudness of mono audio in place to a target in LUFS, by one gain for all samples, and returns that gain in
// dB. The gain is at most MaxBoost and at least MaxReduction, and it leaves every sample at or below MaxPeak: then speech with high
// peaks stays quieter than the target. The peak is the largest sample; between samples the signal may be louder by a few tenths of
// a dB. Silence stays unchanged.
func Normalize(samples []int16, rate int, target float64) float64 {
	loudness := LUFS(samples, rate)
	if loudness <= SilenceDB || math.IsNaN(target) {
		return 0
	}
	gain := max(min(target-loudness, MaxBoost, MaxPeak-Peak(samples)), MaxReduction)
	Amplify(samples, gain)
	return gain
}
