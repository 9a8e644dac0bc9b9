package pcm

import "math"

// The parameters of the gating of ITU-R BS.1770-4, annex 1: blocks of 400 ms that overlap by 75 %, and two thresholds.
const (
	blockSteps   = 4     // steps in a block of 400 ms
	stepsASecond = 10    // a step lasts 100 ms
	absoluteGate = -70.0 // LUFS
	relativeGate = -10.0 // LU, relative to the mean of the blocks above the absolute gate
	loudnessZero = -0.691
)

// LUFS returns the integrated loudness of mono audio according to ITU-R BS.1770-4, in LUFS: a sine of 997 Hz at full scale has -3.01. The
// K-weighting is computed for the rate, which is in Hz. Between 8 and 48 kHz its response deviates by at most 0.05 dB from the
// recommendation's response at 48 kHz.
//
// Audio shorter than 400 ms counts as one block, to which only the absolute gate of -70 LUFS applies. The result is then rough, because the
// ear integrates longer. LUFS returns SilenceDB if there are no samples, if all audio is below the gate, or if the rate is outside MinRate
// to MaxRate.
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

// blockPowers returns the mean square of the K-weighted audio of each block. Audio shorter than a block counts as one block. Of longer
// audio, blockPowers ignores the last incomplete step of 100 ms.
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

// gatedMean returns the mean power of the blocks that are louder than a gate in LUFS. The result is false if no block is louder.
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

// blockLoudness converts a mean square to LUFS (BS.1770-4, formula 2, with one channel of weight 1).
func blockLoudness(power float64) float64 {
	return loudnessZero + 10*math.Log10(math.Max(power, 1e-20))
}

// The limits of Normalize.
const (
	MaxPeak      = -1.0  // dBFS, of the loudest sample afterwards
	MaxBoost     = 30.0  // dB, because quieter audio is noise rather than speech
	MaxReduction = -40.0 // dB
)

// Normalize changes the loudness of mono audio in place to a target in LUFS, with one gain for all samples, and returns the gain in dB. The
// gain is between MaxReduction and MaxBoost, and no sample exceeds MaxPeak afterwards; therefore speech with high peaks may remain quieter
// than the target. The peak is measured at the samples; between samples, the signal may be a few tenths of a dB louder. Silence remains
// unchanged, and so does all audio if target is NaN.
func Normalize(samples []int16, rate int, target float64) float64 {
	loudness := LUFS(samples, rate)
	if loudness <= SilenceDB || math.IsNaN(target) {
		return 0
	}
	gain := max(min(target-loudness, MaxBoost, MaxPeak-Peak(samples)), MaxReduction)
	Amplify(samples, gain)
	return gain
}
