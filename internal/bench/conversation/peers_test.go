package conversation_test

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/speech/activity/silero"
)

// peer is another product's rule for the ends of turns and for interruptions, over the verdicts of a detector.
type peer struct {
	name      string
	detect    func(t *testing.T, samples []int16) []bool // one verdict for each frame
	start     time.Duration                              // speech that begins a turn
	stop      time.Duration                              // silence that ends a turn
	interrupt time.Duration                              // time since the beginning of the speech after which it interrupts the agent
}

// peers contains the defaults of others, in the order of the table's columns. LiveKit's turn ends after 0.55 s of silence if its models of
// turns are not used, pipecat's after 0.8 s.
var peers = []peer{
	{"livekit", probable(0.5, 0.35), 50 * time.Millisecond, 550 * time.Millisecond, 500 * time.Millisecond},
	{"pipecat", probable(0.7, 0.7), 200 * time.Millisecond, 800 * time.Millisecond, 200 * time.Millisecond},
	{"webrtc", webRTC, 100 * time.Millisecond, 500 * time.Millisecond, 200 * time.Millisecond},
}

// probable detects speech by Silero's probability: above onset at the beginning, and above release within speech.
func probable(onset, release float32) func(*testing.T, []int16) []bool {
	return func(_ *testing.T, samples []int16) []bool {
		network := silero.New()
		var out []bool
		var window [256]float32
		speech := false
		for w := range slices.Chunk(samples, len(window)) {
			if len(w) < len(window) {
				break
			}
			for i, s := range w {
				window[i] = float32(s) / 32768
			}
			p := network.Probability(window[:])
			speech = p > onset || speech && p > release
			out = append(out, speech)
		}
		frames := make([]bool, len(samples)/frame)
		for i := range frames {
			if n := ((i+1)*frame - 1) / len(window); n > 0 && n <= len(out) {
				frames[i] = out[n-1]
			}
		}
		return frames
	}
}

// webRTC runs WebRTC's detector, which run.sh fetches. It returns nil for the synthesized corpus, for which nothing is fetched.
func webRTC(t *testing.T, samples []int16) []bool {
	t.Helper()
	if small() {
		return nil
	}
	command := exec.CommandContext(t.Context(), "node", "peer.mjs")
	command.Dir = filepath.Join(*corpusDir, "peers")
	var in, errors bytes.Buffer
	if err := binary.Write(&in, binary.LittleEndian, samples); err != nil {
		t.Fatal(err)
	}
	command.Stdin, command.Stderr = &in, &errors
	out, err := command.Output()
	if err != nil || len(out) != len(samples)/frame {
		t.Fatalf("WebRTC's detector returns %d verdicts, %v: %s", len(out), err, errors.String())
	}
	verdicts := make([]bool, len(out))
	for i, b := range out {
		verdicts[i] = b == '1'
	}
	return verdicts
}

// turns returns the frames at which turns end, and the frame at which the first speech interrupts the agent, or -1. speech begins after
// the frame from.
func (p *peer) turns(verdicts []bool, from int) (ends []int, interrupts int) {
	interrupts = -1
	begun, run, gap, active := 0, 0, 0, false
	for i, speech := range verdicts {
		if speech {
			if run++; run == 1 && !active {
				begun = i
			}
			gap = 0
		} else {
			run = 0
			gap++
		}
		active = active || run >= frames(p.start)
		if active && interrupts < 0 && begun >= from && i-begun+1 >= frames(p.interrupt) {
			interrupts = i + 1
		}
		if active && gap >= frames(p.stop) {
			ends, active = append(ends, i+1), false
		}
	}
	return ends, interrupts
}

func frames(d time.Duration) int { return int(d / (20 * time.Millisecond)) }
