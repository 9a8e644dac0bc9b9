package call_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// TestSummarize checks every number of a summary with a transcript in which each of them occurs.
func TestSummarize(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	said := func(turn, start, end, waited int) call.Entry {
		return call.Entry{Speaker: call.SpeakerUser, Turn: turn, Start: time.Duration(start) * ms, End: time.Duration(end) * ms, Waited: time.Duration(waited) * ms}
	}
	answered := func(turn, endOfTurn, playing int) call.Entry {
		return call.Entry{
			Speaker: call.SpeakerAssistant, Turn: turn, Latency: conversation.Latency{EndOfTurn: time.Duration(endOfTurn) * ms, Playing: time.Duration(playing) * ms},
		}
	}
	interrupted, begun := answered(3, 0, 0), answered(4, 500, 900)
	interrupted.Interrupted = true
	interrupted.Holds = []conversation.Hold{{Why: conversation.HoldNoise}, {Why: conversation.HoldBackChannel}, {Why: conversation.HoldCut}}
	begun.Begun = []conversation.Begun{{Why: conversation.BegunContinued}, {Why: conversation.BegunRevised}, {Used: true}}
	for name, c := range map[string]struct {
		lines []call.Entry
		want  call.Summary
	}{
		"nothing": {},
		"no turn in the first sentence, in a back-channel and in an action": {
			lines: []call.Entry{{Speaker: call.SpeakerAssistant, Latency: conversation.Latency{Playing: 70 * ms}}, said(0, 0, 100, 0), {Speaker: call.SpeakerAction, Turn: 1}},
		},
		"turns": {
			lines: []call.Entry{said(1, 0, 1000, 500), answered(1, 500, 800), said(2, 9000, 9900, 400), said(2, 9950, 9960, 0)},
			want: call.Summary{Turns: 2, Latency: call.LatencyQuantile{
				Answers: 1, P50: conversation.Latency{EndOfTurn: 500 * ms, Playing: 800 * ms},
				P95: conversation.Latency{EndOfTurn: 500 * ms, Playing: 800 * ms},
			}},
		},
		"cut within a second": {
			lines: []call.Entry{said(1, 0, 1000, 500), said(2, 2499, 3000, 500), said(3, 4500, 5000, 500)},
			want:  call.Summary{Turns: 3, Cut: 1},
		},
		"a key within a second": {
			lines: []call.Entry{said(1, 0, 1000, 500), said(2, 1600, 1600, 0)},
			want:  call.Summary{Turns: 2},
		},
		"words that were not recognized": {
			lines: []call.Entry{
				{Speaker: call.SpeakerUser, Unrecognized: conversation.UnrecognizedTimeout}, {Speaker: call.SpeakerUser, Unrecognized: conversation.UnrecognizedError, Turn: 1},
				{Speaker: call.SpeakerAssistant, Holds: []conversation.Hold{{Why: conversation.HoldOnHold}}},
			},
			want: call.Summary{Turns: 1, Unrecognized: 2},
		},
		"interruptions": {
			lines: []call.Entry{interrupted},
			want:  call.Summary{Interrupted: 1, Resumed: 2},
		},
		"early answers": {
			lines: []call.Entry{begun},
			want: call.Summary{Begun: 3, Withdrawn: 2, Latency: call.LatencyQuantile{
				Answers: 1, P50: conversation.Latency{EndOfTurn: 500 * ms, Playing: 900 * ms},
				P95: conversation.Latency{EndOfTurn: 500 * ms, Playing: 900 * ms},
			}},
		},
	} {
		if got := call.Summarize(c.lines); got != c.want {
			t.Errorf("%s: got  %+v\nwant %+v", name, got, c.want)
		}
	}
}

// TestSummarizeQuantiles checks that the quantiles of a stage are values by nearest rank, and that they ignore answers that have not reached
// the stage.
func TestSummarizeQuantiles(t *testing.T) {
	t.Parallel()
	var lines []call.Entry
	for i := range 40 {
		n := (i*7)%40 + 1 // 1 to 40, unordered
		l := conversation.Latency{EndOfTurn: time.Duration(n) * time.Second, Recognized: time.Duration(n) * time.Minute}
		if i%2 == 0 {
			l.Recognized = 0
		}
		lines = append(lines, call.Entry{Speaker: call.SpeakerAssistant, Latency: l})
	}
	got := call.Summarize(lines).Latency
	if got.Answers != 40 || got.P50.EndOfTurn != 20*time.Second || got.P95.EndOfTurn != 38*time.Second {
		t.Errorf("got %+v", got)
	}
	if got.P50.Recognized != 20*time.Minute || got.P95.Recognized != 38*time.Minute || got.P95.Playing != 0 {
		t.Errorf("got %+v", got)
	}
}
