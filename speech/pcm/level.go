package pcm

import "math"

// SilenceDB is the level of samples that are all zero, in dBFS. It is the lowest level that this package returns.
const SilenceDB = -100.0

// fullScale is the magnitude of a sample at 0 dBFS.
const fullScale = 32768

// Loudness returns the root mean square level in dBFS: a square wave at full scale has 0, a sine at full scale -3.01. It returns SilenceDB
// if there are no samples.
func Loudness(samples []int16) float64 {
	if len(samples) == 0 {
		return SilenceDB
	}
	var sum int64
	for _, s := range samples {
		sum += int64(s) * int64(s)
	}
	return decibels(math.Sqrt(float64(sum) / float64(len(samples))))
}

// Peak returns the level of the sample with the greatest magnitude in dBFS, or SilenceDB if there are no samples.
func Peak(samples []int16) float64 {
	top := 0
	for _, s := range samples {
		top = max(top, int(s), -int(s))
	}
	return decibels(float64(top))
}

func decibels(amplitude float64) float64 {
	if amplitude <= 0 {
		return SilenceDB
	}
	return max(SilenceDB, 20*math.Log10(amplitude/fullScale))
}

// Amplify multiplies samples in place by a gain in dB, and clips the results at full scale.
func Amplify(samples []int16, gain float64) {
	factor := math.Pow(10, gain/20)
	for i, s := range samples {
		samples[i] = clip(float64(s) * factor)
	}
}

// clip rounds to the nearest int16, with ties away from zero, and saturates.
func clip(v float64) int16 {
	switch v = math.Round(v); {
	case v > math.MaxInt16:
		return math.MaxInt16
	case v < math.MinInt16:
		return math.MinInt16
	default:
		return int16(v)
	}
}
