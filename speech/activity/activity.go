package activity

// Kind classifies the sound of a frame.
type Kind uint8

// The kinds of sounds. Music and babble are noise.
const (
	Noise    Kind = iota // noise or silence
	Speech               // anybody's speech
	Tone                 // a DTMF digit or a single tone that has lasted for 80 ms
	Impulse              // a click or a knock
	Progress             // a dial, ringback or busy tone that has lasted for 160 ms
	Fax                  // the tone of a calling or answering fax machine that has lasted for 400 ms
)

// String returns the name of a kind.
func (k Kind) String() string {
	switch k {
	case Noise:
		return "noise"
	case Speech:
		return "speech"
	case Tone:
		return "tone"
	case Impulse:
		return "impulse"
	case Progress:
		return "progress"
	case Fax:
		return "fax"
	default:
		return "unknown"
	}
}

// Verdict describes a frame.
type Verdict struct {
	Kind      Kind
	Level     float64 // level in dBFS without hum, from -100 (silence) to 0
	Loud      bool    // louder than the noise; a Network takes up to 100 ms longer to confirm speech
	Far       bool    // the speech is too soft for this caller: somebody else speaks in the room
	Certainty float64 // from 0 to 1: mean probability of speech over the last 160 ms; 1 without a Network
	Clear     bool    // speech beyond doubt: the mean probability over the last 80 ms is 0.9 or more; false without a Network
	Hertz     float64 // frequency of a single tone of any kind; 0 for every other sound
}

// Voice reports whether the frame contains the caller's speech.
func (v Verdict) Voice() bool { return v.Kind == Speech && !v.Far }

// Network estimates the probability of speech in one stream of audio. silero.Network implements it.
type Network interface {
	// Probability returns the probability, from 0 to 1, that the next 256 samples at 8 kHz contain speech. The samples range from -1 to 1.
	Probability(window []float32) float32
	// Reset clears the memory of all windows. A Detector calls it after 300 ms of silence: with the memory of earlier speech, a network
	// recognizes the next word late or not at all.
	Reset()
}
