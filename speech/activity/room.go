package activity

// These constants define the voices in the room.
const (
	stretch    = 5   // frames, 100 ms, between two levels of the room
	memory     = 160 // number of levels: 16 s, in which every caller pauses
	roomRange  = 6.0 // dB above the room's softest level up to which a sound belongs to the room
	roomSpeech = 0.3 // least mean probability of speech in such sounds; steady noise stays far below it
)

// room tracks the sound behind the caller. Its softest level, over means of 400 ms, is the level of the room: pauses of the caller and the
// time before the first word determine it.
type room struct {
	levels [memory]float64 // dBFS
	speech [memory]float64 // probability of speech
	n      int             // number of levels so far
}

// hear adds a mean level of 400 ms in dBFS, and the probability that it contains speech.
func (r *room) hear(level, speech float64) {
	r.levels[r.n%memory], r.speech[r.n%memory] = level, speech
	r.n++
}

// talks reports whether people speak in the room, and a sound with a level in dBFS is as soft as they are.
func (r *room) talks(level float64) bool {
	held := min(r.n, memory)
	softest := 0.0
	for _, l := range r.levels[:held] {
		softest = min(softest, l)
	}
	if level > softest+roomRange {
		return false
	}
	var sum, n float64
	for i, l := range r.levels[:held] {
		if l <= softest+roomRange {
			sum, n = sum+r.speech[i], n+1
		}
	}
	return n > 0 && sum > roomSpeech*n
}
