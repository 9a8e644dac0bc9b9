package pcm

import (
	"math"
	"time"

	"github.com/callwright/callwright"
)

// SameSpeech is the distance below which a recording is judged to contain the reference.
//
// It was measured with three flite voices and fourteen sentences, sent over G.711 at 8 kHz, 9 dB quieter, over noise and with 3 % of the
// packets lost. The distance of the same sentence is 0.11 on average and at most 0.21 (two words with a packet lost; 0.16 for whole
// sentences). The distance of another whole sentence is at least 0.51, even at the best position in a recording of all the others. The hard
// cases are two sentences that share half their words, and two-word answers against a whole call: their distances are at least 0.28.
const SameSpeech = 0.25

// warpCost is added to the distance wherever the alignment deviates from real time. A line rarely stretches speech, whereas matching other
// words requires constant stretching.
const warpCost = 0.1

// maxCompared is the maximum duration of the reference and of the recording, because the work grows with the product of both durations.
const maxCompared = 10 * time.Minute

// Match is the position in a recording that fits a reference best.
type Match struct {
	// Distance is 0 for identical sound, about 1 for unrelated sounds, and at most 2.
	Distance float64
	// Offset is the position in the recording at which the reference's first sound begins. End is the position at which its last sound
	// ends.
	Offset, End time.Duration
}

// Compare finds the reference, the speech of one utterance, in a recording that may contain more audio before and after it. Both are mono;
// their rates, in Hz, may differ. It returns CodeBadRequest if a rate is invalid, if either is longer than 10 minutes, or if the reference
// contains no sound.
func Compare(reference []int16, referenceRate int, recording []int16, recordingRate int) (Match, error) {
	want, err := describeSpeech(reference, referenceRate, "reference")
	if err != nil {
		return Match{}, err
	}
	have, err := describeSpeech(recording, recordingRate, "recording")
	if err != nil {
		return Match{}, err
	}
	want = trim(want)
	if len(want) == 0 {
		return Match{}, callwright.Invalid("reference", "must contain sound")
	}
	return align(want, have), nil
}

func describeSpeech(samples []int16, rate int, field string) ([]frame, error) {
	if Duration(len(samples), rate) > maxCompared {
		return nil, callwright.Invalid(field, "must have at most %v of audio", maxCompared)
	}
	narrow, err := Resample(samples, rate, melRate)
	if err != nil {
		return nil, err
	}
	return features(narrow), nil
}

// trim removes silence from both ends.
func trim(frames []frame) []frame {
	for len(frames) > 0 && frames[0].silent() {
		frames = frames[1:]
	}
	for len(frames) > 0 && frames[len(frames)-1].silent() {
		frames = frames[:len(frames)-1]
	}
	return frames
}

// path is the cheapest alignment that ends at one pair of frames: its cost, the number of compared pairs, and the recorded frame at which
// it starts.
type path struct {
	cost, weight float64
	start        int
}

func (p path) mean() float64 { return p.cost / p.weight }

// step returns the path extended by a pair of frames.
func (p path) step(distance, weight float64) path {
	return path{p.cost + distance*weight, p.weight + weight, p.start}
}

// align aligns the whole reference to any part of the recording by dynamic time warping. It limits the speed to between half and double
// over any two frames, so that other words cannot be stretched to match the reference.
func align(want, have []frame) Match {
	none := path{cost: math.Inf(1), weight: 1}
	// rows[k] contains the paths to reference frame i-k. The two entries before the first recorded frame are unreachable.
	rows := [3][]path{}
	for k := range rows {
		rows[k] = make([]path, len(have)+2)
		for j := range rows[k] {
			rows[k][j] = none
		}
	}
	for i := range want {
		now := rows[0]
		for j := range have {
			here := distance(&want[i], &have[j])
			if i == 0 {
				now[j+2] = path{here, 1, j}
				continue
			}
			best := rows[1][j+1].step(here, 1)
			if j > 0 { // two recorded frames match one reference frame: the skipped frame also counts
				best = cheaper(best, rows[1][j].step((here+distance(&want[i], &have[j-1]))/2+warpCost, 1))
			}
			if i > 1 { // one recorded frame matches two reference frames
				best = cheaper(best, rows[2][j+1].step((here+distance(&want[i-1], &have[j]))/2+warpCost, 2))
			}
			now[j+2] = best
		}
		rows[0], rows[1], rows[2] = rows[2], rows[0], rows[1]
	}
	return bestEnd(rows[1][2:])
}

func bestEnd(paths []path) Match {
	match := Match{Distance: 2}
	for j, p := range paths {
		if d := p.mean(); d < match.Distance {
			match = Match{Distance: d, Offset: melTime(p.start), End: melTime(j) + melTime(1)}
		}
	}
	return match
}

func melTime(frames int) time.Duration { return time.Duration(frames) * melHop * time.Second / melRate }

func cheaper(a, b path) path {
	if b.mean() < a.mean() {
		return b
	}
	return a
}

// distance returns 1 minus the correlation of two frames' shapes. The result is 0 for two silent frames, and 1 for a silent frame and
// sound.
func distance(a, b *frame) float64 {
	dot := 0.0
	for i, v := range a {
		dot += v * b[i]
	}
	if dot == 0 && a.silent() && b.silent() {
		return 0
	}
	return 1 - dot
}
