package call

import (
	"fmt"
	"slices"
	"time"

	"github.com/callwright/callwright/agents/conversation"
)

// Summary describes how smoothly a conversation ran.
type Summary struct {
	Turns        int             // turns of the other side
	Cut          int             // turns after whose end the other side continued to speak within a second
	Unrecognized int             // times that words of the other side were not recognized
	Interrupted  int             // answers that the other side interrupted
	Resumed      int             // pauses of the agent after which it continued, because nobody interrupted it
	Begun        int             // answers that were begun before the turn was certain
	Withdrawn    int             // those of Begun that were withdrawn
	Latency      LatencyQuantile // of the answers to speech
}

// LatencyQuantile contains two quantiles of the latency of each stage.
type LatencyQuantile struct {
	Answers  int // number of the answers to speech
	P50, P95 conversation.Latency
}

// cutWithin bounds the silence between two turns of which the first one counts as cut.
const cutWithin = time.Second

// Summarize returns the summary of a transcript, whose lines must be in the order of Seq.
func Summarize(lines []Entry) Summary {
	var s summarizer
	for _, l := range lines {
		s.add(l)
	}
	return s.summary()
}

// summarizer computes a Summary line by line.
type summarizer struct {
	counts    Summary
	turn      int           // number of the last turn
	over      time.Duration // end of the last spoken turn, with its wait; 0 if there is none
	latencies []conversation.Latency
}

// add adds the next line of a transcript.
func (s *summarizer) add(l Entry) {
	if l.Speaker == SpeakerUser && l.Turn > 0 {
		if l.Turn != s.turn {
			s.counts.Turns++
		}
		if spoken := l.Waited > 0; spoken {
			if s.over > 0 && l.Turn != s.turn && l.Start >= s.over && l.Start-s.over < cutWithin {
				s.counts.Cut++
			}
			s.over = l.End + l.Waited
		}
		s.turn = l.Turn
	}
	if l.Unrecognized != "" {
		s.counts.Unrecognized++
	}
	if l.Speaker != SpeakerAssistant {
		return
	}
	if l.Interrupted {
		s.counts.Interrupted++
	}
	for _, h := range l.Holds {
		if h.Why != conversation.HoldCut && h.Why != conversation.HoldOnHold {
			s.counts.Resumed++
		}
	}
	for _, b := range l.Begun {
		s.counts.Begun++
		if !b.Used {
			s.counts.Withdrawn++
		}
	}
	if l.Latency.EndOfTurn > 0 {
		s.latencies = append(s.latencies, l.Latency)
	}
}

// stages lists the stages of a latency in their usual order.
var stages = []func(*conversation.Latency) *time.Duration{
	func(l *conversation.Latency) *time.Duration { return &l.EndOfTurn },
	func(l *conversation.Latency) *time.Duration { return &l.Recognized },
	func(l *conversation.Latency) *time.Duration { return &l.FirstStep },
	func(l *conversation.Latency) *time.Duration { return &l.FirstAudio },
	func(l *conversation.Latency) *time.Duration { return &l.Playing },
}

// summary returns the summary of the lines so far.
func (s *summarizer) summary() Summary {
	all := s.counts
	all.Latency.Answers = len(s.latencies)
	for _, stage := range stages {
		var reached []time.Duration
		for i := range s.latencies {
			if d := *stage(&s.latencies[i]); d > 0 {
				reached = append(reached, d)
			}
		}
		slices.Sort(reached)
		*stage(&all.Latency.P50), *stage(&all.Latency.P95) = percentile(reached, 50), percentile(reached, 95)
	}
	return all
}

// percentile returns the smallest element of a sorted list that is not exceeded by p percent of the elements (nearest rank). It returns 0
// for an empty list.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}

// unrecognized returns the part of a call's error message about words that were not recognized. It is empty if there were none.
func (s Summary) unrecognized() string {
	switch s.Unrecognized {
	case 0:
		return ""
	case 1:
		return "words of the other side were not recognized once"
	default:
		return fmt.Sprintf("words of the other side were not recognized %d times", s.Unrecognized)
	}
}
