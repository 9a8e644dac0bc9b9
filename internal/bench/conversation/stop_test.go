package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
)

// reading is the text that the agent reads to the caller: 300 letters, which last for 18 s.
var reading = strings.TrimSpace(strings.Repeat("we are open from nine to five on every day but sunday. ", 6))[:300]

// soundAt is the sample at which a sound over the agent's words begins. The agent begins at about 0 s.
const soundAt = 4 * rate

// overText returns a call of 26 s in which a caller makes a sound over the agent's text, on a quiet line.
func overText(sound []int16, noise func(i int) float64) []int16 {
	audio := make([]int16, 26*rate)
	copy(audio[soundAt:], sound)
	return sounds.Mix(audio, noise)
}

// heardOver is a kind of sound that a caller makes over the agent's words.
type heardOver struct {
	name   string
	sounds [][]int16
	words  [][]word // nil for sounds without words
	stops  float64  // share of sounds that interrupt for good in the small measurement, %
	within time.Duration
}

// soundsOver returns the sounds over the agent's words.
func soundsOver(t *testing.T, c corpus) []heardOver {
	t.Helper()
	interruption := heardOver{name: "sentences", stops: 100, within: 320 * time.Millisecond}
	for _, u := range c.short {
		interruption.sounds = append(interruption.sounds, u.samples)
		interruption.words = append(interruption.words, u.words)
	}
	cough, breath, click := heardOver{name: "coughs"}, heardOver{name: "breaths"}, heardOver{name: "typing and clicks"}
	few := uint64(5)
	if !small() {
		few = 60
	}
	for seed := range few {
		cough.sounds = append(cough.sounds, sounds.Cough(seed, -18))
		breath.sounds = append(breath.sounds, sounds.Breath(seed, -28))
		click.sounds = append(click.sounds, sounds.Typing(seed, -15))
	}
	music := heardOver{name: "music, 10 s"}
	for _, m := range c.music {
		level := sounds.Amplitude(voiceLevel) / sounds.RMS(m)
		for at := 0; at+10*rate <= len(m) && len(music.sounds) < int(few); at += 30 * rate {
			part := slices.Clone(m[at : at+10*rate])
			for i, s := range part {
				part[i] = sounds.Clip(float64(s) * level)
			}
			music.sounds = append(music.sounds, part)
		}
	}
	ringing := heardOver{name: "ringback, busy and dial tones, 10 s"}
	for _, tones := range [][]float64{{440, 480}, {480, 620}, {350, 440}, {425}} {
		part := make([]int16, 10*rate)
		tone := sounds.Tones(voiceLevel, tones...)
		for i := range part {
			if i%(2*rate) < rate {
				part[i] = sounds.Clip(tone(i))
			}
		}
		ringing.sounds = append(ringing.sounds, part)
	}
	return []heardOver{interruption, cough, breath, click, music, ringing}
}

// TestStops measures which sounds stop the agent, and how soon.
func TestStops(t *testing.T) {
	t.Parallel()
	c := load(t)
	for position, over := range soundsOver(t, c) {
		t.Run(over.name, func(t *testing.T) {
			t.Parallel()
			var ours counts
			others := make([]counts, len(peers))
			silent := make([][]time.Duration, 1+len(peers))
			for n, sound := range over.sounds {
				audio := overText(sound, sounds.White(-65))
				var words []word
				if over.words != nil {
					words = shifted(over.words[n], soundAt)
				}
				r := simulate(t, scene{
					audio: audio, words: words, network: true, opening: reading, engines: engines{final: 150 * time.Millisecond},
				})
				after, stopped := r.silentAfter(soundAt)
				stopped = stopped && after < time.Duration(len(sound))*time.Second/rate+time.Second
				ours.add(when(stopped, "paused"), when(r.cut(), "cut"))
				if stopped {
					silent[0] = append(silent[0], after)
				}
				for i, p := range peers {
					if verdicts := p.detect(t, audio); verdicts != nil {
						_, at := p.turns(verdicts, soundAt/frame-5)
						others[i].add(when(at >= 0, "cut"))
						if at >= 0 {
							silent[i+1] = append(silent[i+1], time.Duration(at-soundAt/frame)*20*time.Millisecond)
						}
					}
				}
			}
			cells := []string{over.name, ours.percent("paused"), ours.percent("cut"), millis(silent[0])}
			for i := range others {
				cell := others[i].percent("cut")
				if len(silent[i+1]) > 0 {
					cell += " (" + millis(silent[i+1]) + ")"
				}
				cells = append(cells, cell)
			}
			addRow(1, position, cells...)
			t.Logf("%v", cells)
			if over.stops > 0 {
				atLeast(t, "interrupted", ours.share("cut"), over.stops, 0)
				atMost(t, "silent after", float64(quantile(silent[0], 0.95).Milliseconds()), float64(over.within.Milliseconds()), 60)
			} else {
				atMost(t, "interrupted", ours.share("cut"), 0, 0)
			}
		})
	}
}

// TestEcho measures whether the agent's own voice, which returns 20 dB softer, interrupts the agent.
func TestEcho(t *testing.T) {
	t.Parallel()
	c := load(t)
	var spoken []int16
	for _, u := range c.sentences[:4] {
		spoken = append(spoken, u.samples...)
	}
	for i, level := range []float64{-10, -20, -30} {
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			t.Parallel()
			var n counts
			for k := range 2 {
				from := k * len(spoken) / 2
				r := simulate(t, scene{
					audio: sounds.Mix(make([]int16, 26*rate), sounds.White(-65)), echo: level, network: true, opening: reading,
					engines: engines{sound: append(slices.Clone(spoken[from:]), spoken[:from]...)},
				})
				n.add(when(r.paused(), "paused"), when(r.cut(), "cut"))
			}
			atMost(t, "paused", n.share("paused"), 0, 0)
			addRow(1, 20+i, fmt.Sprintf("echo of %.0f dB, after 2 s", level), n.percent("paused"), n.percent("cut"), "-", "-", "-", "-")
			t.Logf("paused, cut: %s", n.percent("paused", "cut"))
		})
	}
}

// TestAcknowledgements measures what "uh-huh" and "okay" do to a text of 18 s.
func TestAcknowledgements(t *testing.T) {
	t.Parallel()
	position := 0
	for _, text := range []string{"uh huh", "okay"} {
		for name, e := range map[string]engines{
			"batch, 350 ms":    {final: 350 * time.Millisecond},
			"partials, 200 ms": {final: 150 * time.Millisecond, partial: 200 * time.Millisecond},
		} {
			position++
			at := position
			t.Run(text+", "+name, func(t *testing.T) {
				t.Parallel()
				var n counts
				var stops []time.Duration
				voices := []string{"slt", "rms", "awb", "kal16"}
				if small() {
					voices = voices[:2]
				}
				for _, voice := range voices {
					u, _ := newUtterance(voice, "en", text, sounds.Speech(t, voice, text))
					for k := range 2 {
						audio := make([]int16, 26*rate)
						begin := soundAt + k*3*rate
						copy(audio[begin:], u.samples)
						r := simulate(t, scene{
							audio: sounds.Mix(audio, sounds.White(-65)), words: shifted(u.words, begin), network: true, opening: reading, engines: e,
							config: conversation.Config{Language: "en"},
						})
						stop := r.longestStop(0)
						stops = append(stops, stop)
						whole := r.audible() > 17800*time.Millisecond
						n.add(when(whole && !r.cut(), "on"), when(stop <= 700*time.Millisecond && !r.cut(), "short"),
							when(r.audible() > 18500*time.Millisecond, "repeated"))
					}
				}
				addRow(2, at, text, name, n.percent("on"), millis(stops), n.percent("short"), n.percent("repeated"))
				t.Logf("on, short, repeated %s; stops %s", n.percent("on", "short", "repeated"), millis(stops))
				atLeast(t, "went on", n.share("on"), 100, 0)
				if e.partial > 0 {
					atMost(t, "longest stop", float64(quantile(stops, 1).Milliseconds()), 660, 60)
				}
				atMost(t, "repeated", n.share("repeated"), 0, 0)
			})
		}
	}
}
