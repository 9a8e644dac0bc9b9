package testcall

import (
	"context"
	"math"
	"time"
)

// Chime is a Prompt that consists of two decaying tones, the second one lower. It requires no speech engine.
type Chime struct{}

// chimeTones contains the frequencies of the chime's tones in hertz: E5 and C5. chimeTone is the duration of each tone, and chimePeak is
// the peak sample, about -10 dB of full scale.
var chimeTones = [...]float64{659.26, 523.25}

const (
	chimeTone   = 800 * time.Millisecond
	chimeAttack = 0.005 // seconds
	chimeDecay  = 0.25  // seconds until the amplitude falls to 1/e
	chimePeak   = 10000
)

// Prompt returns the chime, which lasts 1.6 seconds. It never fails.
func (Chime) Prompt(_ context.Context, rate int) ([]int16, error) {
	each := int(chimeTone.Seconds() * float64(rate))
	samples := make([]int16, 0, each*len(chimeTones))
	for _, hertz := range chimeTones {
		for i := range each {
			t := float64(i) / float64(rate)
			loud := chimePeak * min(1, t/chimeAttack) * math.Exp(-t/chimeDecay)
			samples = append(samples, int16(loud*math.Sin(2*math.Pi*hertz*t)))
		}
	}
	return samples, nil
}
