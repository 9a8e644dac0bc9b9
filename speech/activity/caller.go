package activity

// These constants define how the caller's usual level is tracked.
const (
	softer    = 13.0  // dB below the usual level from which speech is somebody else's
	recent    = 8     // frames, 160 ms, over whose mean energy speech is compared: single syllables of a softer voice may be loud
	murmur    = 6.0   // dB below the usual level from which speech may be one of the voices in the room
	lasting   = 20    // frames, 400 ms, over whose mean energy speech is compared with the room
	enough    = 25    // frames of speech, 500 ms, after which the level is known
	rising    = 0.06  // share of the distance by which a louder frame raises the level
	falling   = 0.015 // share of the distance by which a softer frame lowers the level
	softening = 0.02  // dB by which a frame of somebody else's speech lowers the level: 1 dB per second
)

// caller tracks the usual level of the caller's speech, which about a fifth of the frames exceed. Speech far below this level is
// somebody else's, such as a colleague's or a television's. While only such speech is heard, the level falls by 1 dB per second, so that a
// caller who moved away from the phone is heard again. If several people speak in the room, less distance suffices: their voices are as loud
// as before the caller spoke.
type caller struct {
	level  float64          // dBFS
	frames int              // number of frames of speech, up to enough
	energy [lasting]float64 // mean squares of the last frames
	heard  int              // number of frames so far
	room   room
}

// hear processes the mean square of a frame of any sound, and the probability that the last frames contain speech.
func (c *caller) hear(energy, certainty float64) {
	c.energy[c.heard%lasting] = energy
	c.heard++
	if c.heard >= lasting && c.heard%stretch == 0 {
		c.room.hear(c.mean(lasting), certainty)
	}
}

// mean returns the mean level of the last frames in dBFS.
func (c *caller) mean(frames int) float64 {
	var sum float64
	for i := range min(frames, c.heard) {
		sum += c.energy[(c.heard-1-i)%lasting]
	}
	return decibels(sum / float64(frames))
}

// far reports whether the speech of the last frames is too soft for the caller.
func (c *caller) far() bool {
	return c.frames == enough && (c.mean(recent) < c.level-softer || c.inRoom())
}

// inRoom reports whether the speech of the last frames is softer than the caller's, and as loud as voices in the room.
func (c *caller) inRoom() bool {
	level := c.mean(lasting)
	return level < c.level-murmur && c.room.talks(level)
}

// learn updates the usual level with the level of a frame of speech, in dBFS.
func (c *caller) learn(level float64) {
	switch {
	case c.frames == 0:
		c.level = level
	case c.far():
		if !c.inRoom() {
			c.level -= softening
		}
		return
	case level > c.level:
		c.level += rising * (level - c.level)
	default:
		c.level += falling * (level - c.level)
	}
	c.frames = min(c.frames+1, enough)
}

// above returns the distance in dB of the caller's speech above the noise floor, for a frame with the given level and distance. Until the
// usual level is known, it returns the distance of the frame itself.
func (c *caller) above(level, distance float64) float64 {
	if c.frames < enough {
		return distance
	}
	return max(distance, distance+c.level-level)
}
