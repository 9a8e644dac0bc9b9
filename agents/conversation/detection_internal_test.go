package conversation

import (
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

// energy and network return the Activity without and with the neural network.
func energy(rate int) Activity  { return activity.New(rate, nil) }
func network(rate int) Activity { return activity.New(rate, silero.New()) }

// TestTurnsInNoise measures the turns of 12 utterances in several noises: how many end within 1.2 s of the last word, and how many end
// before it. It checks the detection with the network, and logs the detection by energy alone for comparison.
func TestTurnsInNoise(t *testing.T) {
	t.Parallel()
	var utterances [][]int16
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		for _, text := range []string{
			"I would like to come on Tuesday afternoon if you have something after four.",
			"No, that was my sister, and she has moved to Springfield.",
			"Can you tell me how much it is?",
		} {
			utterances = append(utterances, sounds.Scale(sounds.Speech(t, voice, text), -20))
		}
	}
	babble := sounds.Babble(t, 0)
	for _, c := range []struct {
		name  string
		noise func(i int) float64
		level float64 // of the noise in dBFS; the speech has -20
		ended int     // minimum number of turns that end in time
		early int     // maximum number of turns that end early
	}{
		{"clean", sounds.White(0), -65, 12, 0},
		{"white noise 15 dB", sounds.White(0), -35, 11, 0},
		{"white noise 0 dB", sounds.White(0), -20, 11, 1},
		{"car 0 dB", sounds.Brown(0), -20, 10, 4},
		{"babble 20 dB", babble, -40, 10, 0},
		{"babble 10 dB", babble, -30, 3, 0},
		{"music 20 dB", sounds.Music(0), -40, 11, 0},
		{"music 10 dB", sounds.Music(0), -30, 11, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			gain := sounds.Amplitude(c.level) / sounds.Amplitude(0)
			var byNetwork, byEnergy turnEnds
			for _, u := range utterances {
				line := slices.Concat(make([]int16, 12000), u, make([]int16, 16000))
				line = sounds.Mix(line, func(i int) float64 { return gain * c.noise(i) })
				byNetwork.add(line, 20000, 12000+len(u)-8000, network(8000)) // the utterance has a second of silence on both sides
				byEnergy.add(line, 20000, 12000+len(u)-8000, energy(8000))
			}
			t.Logf("network %+v, energy %+v", byNetwork, byEnergy)
			if byNetwork.inTime < c.ended || byNetwork.early > c.early {
				t.Errorf("%+v, want at least %d in time and at most %d early", byNetwork, c.ended, c.early)
			}
		})
	}
}

// turnEnds counts turns.
type turnEnds struct {
	inTime int // ended within 1.2 s of the last word
	early  int // ended before the last word
}

// add counts the turn of the speech that lies between the samples begin and end of p.
func (n *turnEnds) add(p []int16, begin, end int, a Activity) {
	e := newEar(a)
	open, spoken, early := false, false, false
	for i := 0; i+160 <= len(p) && i < end+9600; i += 160 {
		e.hear(Frame{In: p[i : i+160]}, false)
		inside := i > begin && i < end
		if !open {
			e.endBurst()
			open = e.speaks()
		}
		spoken = spoken || open && inside
		if open && e.gap >= 500*time.Millisecond {
			open = false
			e.reset()
			early = early || inside
			if i >= end {
				break
			}
		}
	}
	if early {
		n.early++
	}
	if spoken && !open {
		n.inTime++
	}
}

// TestStops measures which sounds stop the agent, with Config.Interruption of 200 ms.
func TestStops(t *testing.T) {
	t.Parallel()
	all := map[string][][]int16{}
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		for _, text := range []string{"Wait, stop please, I have a question.", "No, that is not what I meant.", "Excuse me."} {
			spoken := sounds.Scale(sounds.Speech(t, voice, text), -22)
			for sounds.RMS(spoken[:160]) < sounds.Amplitude(-42) {
				spoken = spoken[160:]
			}
			all["interruption"] = append(all["interruption"], spoken)
		}
	}
	for seed := range uint64(20) {
		all["cough"] = append(all["cough"], sounds.Cough(seed, -18))
		all["breath"] = append(all["breath"], sounds.Breath(seed, -28))
		all["typing"] = append(all["typing"], sounds.Typing(seed, -15))
	}
	for sound, samples := range all {
		var byNetwork, byEnergy []time.Duration
		for _, p := range samples {
			byNetwork = appendStop(byNetwork, p, network(8000))
			byEnergy = appendStop(byEnergy, p, energy(8000))
		}
		slices.Sort(byNetwork)
		t.Logf("%s: %d of %d stop the agent with the network, %d by energy; %v", sound, len(byNetwork), len(samples), len(byEnergy), byNetwork)
		switch n := len(byNetwork); {
		case sound != "interruption" && n > 0:
			t.Errorf("%s: %d of %d stop the agent", sound, n, len(samples))
		case sound == "interruption" && (n < len(samples) || byNetwork[n*3/4] > 300*time.Millisecond || byNetwork[n-1] > 500*time.Millisecond):
			t.Errorf("%d of %d interruptions stop the agent, after %v", n, len(samples), byNetwork)
		}
	}
}

// appendStop appends the time after which a sound stops the agent, if it does.
func appendStop(all []time.Duration, sound []int16, a Activity) []time.Duration {
	e := newEar(a)
	const before = 16000 // samples
	p := sounds.Mix(slices.Concat(make([]int16, before), sound), sounds.White(-65))
	for i := 0; i+160 <= len(p); i += 160 {
		e.hear(Frame{In: p[i : i+160]}, false)
		e.endBurst()
		if e.interrupts(200 * time.Millisecond) {
			return append(all, time.Duration(i+160-before)*time.Second/8000)
		}
	}
	return all
}

// heardAs is an Activity with a constant verdict.
type heardAs activity.Verdict

func (v heardAs) Hear([]int16, []int16) activity.Verdict { return activity.Verdict(v) }

// TestClearVoiceInterruptsSooner checks that 160 ms of a clear voice interrupt where 200 ms of another voice do.
func TestClearVoiceInterruptsSooner(t *testing.T) {
	t.Parallel()
	for sure, want := range map[bool]time.Duration{true: 160 * time.Millisecond, false: 200 * time.Millisecond} {
		e := newEar(heardAs{Kind: activity.Speech, Level: -20, Certainty: 0.9, Clear: sure})
		var after time.Duration
		for !e.interrupts(200*time.Millisecond) && after < time.Second {
			e.hear(Frame{In: make([]int16, 160)}, false)
			after += frameTime
		}
		if after != want {
			t.Errorf("a voice that is clear (%v) interrupts after %s, want %s", sure, after, want)
		}
	}
}
