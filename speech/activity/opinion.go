package activity

// The network's probabilities above which a frame is speech at the beginning of speech and within speech.
const (
	probableOnset   = 0.5
	probableRelease = 0.35
)

const (
	window        = 256 // samples of a network's window
	certainFrames = 8   // number of frames in Verdict.Certainty
	clearFrames   = 4   // number of frames in Verdict.Clear
	clearMean     = 0.9 // least mean probability of speech beyond doubt

	silentLevel  = 1e-5 // greatest mean square of a frame of silence: -50 dBFS
	improbable   = 0.2  // greatest probability of speech in such a frame
	silentFrames = 15   // number of frames of silence, 300 ms, after which the network begins anew
)

// opinion passes the audio to a Network, and averages its probabilities. The network may be nil.
type opinion struct {
	network Network
	samples [window]float32
	n       int // number of samples that wait for a complete window
	latest  float64
	last    [certainFrames]float64 // probabilities of the last frames
	at      int
	speech  bool
	silent  int // consecutive frames of silence
}

// hear processes a frame.
func (o *opinion) hear(x *[bandFrame]float64) {
	if o.network == nil {
		return
	}
	if o.silent == silentFrames {
		o.network.Reset()
	}
	if o.silent++; dot(x, x) > silentLevel*bandFrame || o.latest > improbable {
		o.silent = 0
	}
	for _, v := range x {
		o.samples[o.n] = float32(v)
		if o.n++; o.n == window {
			o.n = 0
			o.latest = float64(o.network.Probability(o.samples[:]))
		}
	}
	o.at = (o.at + 1) % certainFrames
	o.last[o.at] = o.latest
	if o.speech {
		o.speech = o.latest > probableRelease
	} else {
		o.speech = o.latest > probableOnset
	}
}

// certainty returns the mean probability of the last frames, or 1 without a network.
func (o *opinion) certainty() float64 {
	if o.network == nil {
		return 1
	}
	return o.mean()
}

// clear reports whether the newest frames are speech beyond doubt.
func (o *opinion) clear() bool {
	var sum float64
	for i := range clearFrames {
		sum += o.last[(o.at+certainFrames-i)%certainFrames]
	}
	return sum >= clearMean*clearFrames
}

// mean returns the mean probability of the last frames, or 0 without a network.
func (o *opinion) mean() float64 {
	var sum float64
	for _, p := range o.last {
		sum += p
	}
	return sum / certainFrames
}
