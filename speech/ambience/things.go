package ambience

import "math"

// vowels contains the first three formants of vowels in Hz.
var vowels = [][3]float64{
	{730, 1090, 2440}, {530, 1840, 2480}, {390, 1990, 2550}, {270, 2290, 3010}, {570, 840, 2410}, {440, 1020, 2240}, {300, 870, 2240}, {640, 1190, 2390},
}

// talk adds a distant talker, whose words are not intelligible: phrases of syllables with pauses between them.
func (c *canvas) talk() {
	pitch := c.between(95, 220)
	loud := c.between(0.5, 1)
	start := c.anywhere()
	for at := start; at < start+len(c.samples)-c.count(3); at += c.count(c.between(0.6, 3.5)) {
		for phrase := at + c.count(c.between(0.8, 2.6)); at < phrase; {
			length := c.between(0.11, 0.26)
			if c.random.IntN(3) == 0 {
				c.hiss(at, c.between(0.04, 0.09), 0.08*loud)
			}
			c.syllable(at, length, pitch*c.between(0.88, 1.14), loud*c.between(0.5, 1))
			at += c.count(length * c.between(0.9, 1.2))
		}
	}
}

// syllable adds a vowel of a voice.
func (c *canvas) syllable(at int, length, pitch, loud float64) {
	formants := vowels[c.random.IntN(len(vowels))]
	var filters [3]func(float64) float64
	for i, f := range formants {
		filters[i] = c.resonator(f*c.between(0.92, 1.08), 90+40*float64(i))
	}
	size := c.count(length)
	phase := c.random.Float64()
	for i := range size {
		part := float64(i) / float64(size)
		phase += pitch * (1.08 - 0.16*part) / float64(c.rate)
		source := 0.02 * c.noise()
		if phase >= 1 {
			phase--
			source++
		}
		v := 0.0
		for n, filter := range filters {
			v += filter(source) / float64(n+1)
		}
		c.add(at+i, loud*v*math.Sin(math.Pi*part))
	}
}

// resonator returns a filter that resonates at a frequency. The frequency and the bandwidth are in Hz.
func (c *canvas) resonator(frequency, width float64) func(float64) float64 {
	if frequency > 0.45*float64(c.rate) {
		return func(float64) float64 { return 0 }
	}
	r := math.Exp(-math.Pi * width / float64(c.rate))
	a, b := 2*r*math.Cos(2*math.Pi*frequency/float64(c.rate)), -r*r
	gain := 1 - r
	var y1, y2 float64
	return func(x float64) float64 {
		y := gain*x + a*y1 + b*y2
		y1, y2 = y, y1
		return y
	}
}

// hiss adds noise that swells and fades.
func (c *canvas) hiss(at int, length, loud float64) {
	filter := c.resonator(min(2900, 0.36*float64(c.rate)), 900)
	size := c.count(length)
	for i := range size {
		c.add(at+i, loud*filter(c.noise())*math.Sin(math.Pi*float64(i)/float64(size)))
	}
}

// clink adds the sound of a cup, a plate or a knife: partials that fade quickly.
func (c *canvas) clink() {
	at, loud := c.anywhere(), c.between(0.3, 2)
	base, fade := c.between(1500, 3000), c.between(18, 55)
	size := c.count(6 / fade)
	for _, partial := range []float64{1, c.between(1.2, 1.5), c.between(1.6, 2.4)} {
		if f := base * partial; f < 0.45*float64(c.rate) {
			share := loud * c.between(0.3, 1)
			for i := range size {
				t := float64(i) / float64(c.rate)
				c.add(at+i, share*math.Exp(-fade*partial*t)*math.Sin(2*math.Pi*f*t))
			}
		}
	}
}

// typing adds a burst of keystrokes.
func (c *canvas) typing() {
	at, loud := c.anywhere(), c.between(0.3, 1)
	for range 6 + c.random.IntN(18) {
		strength, body := loud*c.between(0.5, 1), c.between(180, 320)
		dull := c.lowPass(2600)
		for i := range c.count(0.05) {
			t := float64(i) / float64(c.rate)
			c.add(at+i, strength*(1.6*math.Exp(-400*t)*dull(c.noise())+0.5*math.Exp(-90*t)*math.Sin(2*math.Pi*body*t)))
		}
		at += c.count(c.between(0.09, 0.24))
	}
}

// steam adds the hiss of a coffee machine.
func (c *canvas) steam() { c.hiss(c.anywhere(), c.between(1.2, 2.8), 3) }
