package activity

// These constants define which frames knock recognizes as an impulse.
const (
	knockBlock = bandFrame / 8 // samples in a block: 2.5 ms
	knockShare = 0.6           // minimum share of a frame's energy in two consecutive blocks
	knockEnd   = 0.05          // maximum energy of the frame's last block, as a share of these two
	knockRise  = 15.0          // minimum rise of the level in dB from the frame before
	knockDecay = 4.0           // minimum fall of the level in dB for each following frame
)

// knock finds impulses such as clicks and knocks. Most of their energy arrives within 5 ms, and the rest decays quickly. Voices swell
// slowly, and their energy is spread over several periods.
type knock struct {
	level float64 // level of the last frame in dBFS
	rings bool    // the last frame belongs to an impulse
}

// rest processes a frame of silence.
func (k *knock) rest() { k.level, k.rings = decibels(0), false }

// hear processes a frame with a level in dBFS, and reports whether the frame belongs to an impulse.
func (k *knock) hear(x *[bandFrame]float64, level float64) bool {
	rise := level - k.level
	k.level = level
	k.rings = rise > knockRise && sudden(x) || k.rings && rise < -knockDecay
	return k.rings
}

// sudden reports whether two consecutive blocks contain most of a frame's energy, and the sound has faded at the end of the frame.
func sudden(x *[bandFrame]float64) bool {
	var sum, most, last float64
	for i := 0; i < bandFrame; i += knockBlock {
		var energy float64
		for _, v := range x[i : i+knockBlock] {
			energy += v * v
		}
		sum += energy
		most = max(most, last+energy)
		last = energy
	}
	return most > knockShare*sum && last < knockEnd*most
}
