package conversation_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
)

// inTime is the time after the last word within which a turn must end.
const inTime = 1200 * time.Millisecond

// TestTurnsInNoise measures the ends of turns of one sentence, with a fixed wait of 500 ms.
func TestTurnsInNoise(t *testing.T) {
	t.Parallel()
	c := load(t)
	for position, cond := range conditions(t, c) {
		t.Run(cond.name, func(t *testing.T) {
			t.Parallel()
			var ours, energy counts
			others := make([]counts, len(peers))
			for n, u := range c.sentences {
				audio, begin, end := cond.with(u, uint64(n))
				ours.add(turnEnd(t, u, audio, begin, end, true)...)
				energy.add(turnEnd(t, u, audio, begin, end, false)...)
				for i, p := range peers {
					if verdicts := p.detect(t, audio); verdicts != nil {
						ends, _ := p.turns(verdicts, 0)
						others[i].add(ended(ends, begin, end)...)
					}
				}
			}
			cells := []string{cond.name, ours.percent("in time", "early"), energy.percent("in time", "early")}
			for i := range others {
				cells = append(cells, others[i].percent("in time", "early"))
			}
			addRow(0, position, cells...)
			t.Logf("%v", cells)
			want := smallTurns[cond.name]
			atLeast(t, "ended in time", ours.share("in time"), want[0], 12.5)
			atMost(t, "cut early", ours.share("early"), want[1], 12.5)
		})
	}
}

// smallTurns contains the results of the small measurement: ended in time and cut early, in percent.
var smallTurns = map[string][2]float64{
	"clean": {100, 0}, "white noise as loud": {100, 0}, "babble 20 dB below": {100, 0}, "babble 10 dB below": {100, 0},
	"music 20 dB below": {100, 0}, "music 10 dB below": {100, 0},
}

// turnEnd simulates a call and names what happened: in time, early, or nothing.
func turnEnd(t *testing.T, u utterance, audio []int16, begin, end int, network bool) []string {
	t.Helper()
	r := simulate(t, scene{
		audio: audio, words: shifted(u.words, begin), network: network,
		config: conversation.Config{EndOfTurn: 500 * time.Millisecond, LongestWait: 500 * time.Millisecond, Language: u.language},
	})
	var ends []int
	for _, turn := range r.turns {
		ends = append(ends, int(turn.at/(20*time.Millisecond)))
	}
	return ended(ends, begin, end)
}

// ended names what happened to a turn between two samples whose parts ended at the given frames.
func ended(ends []int, begin, end int) (names []string) {
	early, late := false, false
	for _, f := range ends {
		early = early || f*frame > begin && f*frame < end
		late = late || f*frame >= end && f*frame <= end+int(inTime*rate/time.Second)
	}
	return []string{when(early, "early"), when(late, "in time")}
}

// shifted returns words that are said later by a number of samples.
func shifted(words []word, by int) []word {
	out := make([]word, len(words))
	for i, w := range words {
		out[i] = word{w.text, w.start + by, w.end + by}
	}
	return out
}
