package jitter

import "time"

// The constants of the concealment, which resembles ITU-T G.711, Appendix I. It repeats the last pitch period, and after onePeriod the last
// three periods, so that the audio does not buzz. The three periods fade until silentFrom. The next received audio is cross-faded. Unlike
// the Appendix, the concealment adds no delay, so the transition at its beginning is not smoothed.
const (
	pitchLeast = 5 * time.Millisecond  // 200 Hz
	pitchMost  = 15 * time.Millisecond // 66 Hz
	compared   = 20 * time.Millisecond // length of the audio that is compared with earlier audio
	onePeriod  = 10 * time.Millisecond // time for which a single period is repeated, without fading
	silentFrom = 60 * time.Millisecond
	crossFade  = 4 * time.Millisecond
)

// concealer produces a replacement for missing audio.
type concealer struct {
	rate    int
	history []int16 // the last samples that were received or silent, without concealed ones
	period  int     // pitch period of the current loss, in samples
	cycle   int     // number of repeated samples at the end of history
	at      int     // position in the cycle
	run     int     // number of concealed samples since the last received one
}

func newConcealer(rate int) *concealer {
	c := &concealer{rate: rate}
	c.history = make([]int16, c.samples(3*pitchMost)+c.samples(compared))
	return c
}

func (c *concealer) samples(d time.Duration) int { return int(d * time.Duration(c.rate) / time.Second) }

// good adds received or silent samples to the history. After a loss, it first blends the beginning of pcm with the continued concealment.
func (c *concealer) good(pcm []int16) {
	if c.run > 0 {
		n := min(c.samples(crossFade), len(pcm))
		for i := range n {
			old, fresh := int(c.sample()), int(pcm[i])
			pcm[i] = int16((old*(n-i) + fresh*i) / n)
		}
		c.run = 0
	}
	keep := len(c.history)
	if len(pcm) >= keep {
		copy(c.history, pcm[len(pcm)-keep:])
		return
	}
	copy(c.history, c.history[len(pcm):])
	copy(c.history[keep-len(pcm):], pcm)
}

// lost appends n concealed samples to dst.
func (c *concealer) lost(dst []int16, n int) []int16 {
	if c.run == 0 {
		c.period = c.pitch()
		c.cycle, c.at = c.period, 0
	}
	for range n {
		dst = append(dst, c.sample())
	}
	return dst
}

// sample returns the next concealed sample, which is 0 after 60 ms of concealment.
func (c *concealer) sample() int16 {
	silent, full := c.samples(silentFrom), c.samples(onePeriod)
	if c.run >= silent {
		return 0
	}
	if c.run == full {
		// From here on, three periods are repeated. The last of them is the period that was repeated before, so that the transition is at
		// its end.
		c.cycle, c.at = 3*c.period, 0
	}
	if c.at == c.cycle {
		c.at = 0
	}
	value := int(c.history[len(c.history)-c.cycle+c.at])
	c.at++
	c.run++
	if c.run > full {
		value = value * (silent - c.run) / (silent - full)
	}
	return int16(value)
}

// pitch returns the lag at which the end of the history is most similar to the audio before it. It compares squares of the normalized
// correlation, to avoid roots and divisions by zero. If no lag correlates, it returns the longest lag.
func (c *concealer) pitch() int {
	least, most, window := c.samples(pitchLeast), c.samples(pitchMost), c.samples(compared)
	end := c.history[len(c.history)-window:]
	best, bestScore := most, 0.0
	for lag := least; lag <= most; lag++ {
		before := c.history[len(c.history)-window-lag : len(c.history)-lag]
		var product, energy int64
		for i, v := range end {
			product += int64(v) * int64(before[i])
			energy += int64(before[i]) * int64(before[i])
		}
		if product <= 0 || energy == 0 {
			continue
		}
		if score := float64(product) * float64(product) / float64(energy); score > bestScore {
			best, bestScore = lag, score
		}
	}
	return best
}
