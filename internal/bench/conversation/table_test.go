package conversation_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// table collects the measured rows, which TestMain prints as Markdown.
var table struct {
	sync.Mutex
	sections map[string][]row
}

// row is a line of a section. Its position orders the lines.
type row struct {
	position int
	cells    []string
}

// The sections of the table, in order, with the heads of their columns.
var sections = [][]string{
	{"Turns of one sentence: ended within 1.2 s / cut early, %", "Condition", "Callwright", "by energy alone", "Silero, LiveKit's rules", "Silero, pipecat's rules", "WebRTC's detector"},
	{"What stops the agent: %; median and 95th percentile in ms", "Sound", "paused", "interrupted for good", "silent after", "Silero, LiveKit's rules", "Silero, pipecat's rules", "WebRTC's detector"},
	{"Over a text of 18 s, with the words known: %", "Words", "Recognizer", "went on", "longest stop: median, p95 in ms", "without a stop above 0.7 s", "repeated"},
	{"Turns with pauses, %", "What", "Recognizer", "one turn, complete", "cut inside"},
	{"Latency, ms", "What", "Recognizer", "median", "p95"},
	{"Who answered: right, %", "Party", "Calls", "by sound: a person or a machine", "with words: the category"},
	{"Single words of at most 700 ms, %; median and 95th percentile in ms", "Voices", "heard after silence", "soft, -28 dBFS", "white noise 20 dB below", "stops the agent: batch", "stops the agent: partial texts", "silent after"},
}

// addRow adds a line to a section. It may be called by several tests concurrently.
func addRow(section, position int, cells ...string) {
	table.Lock()
	defer table.Unlock()
	if table.sections == nil {
		table.sections = map[string][]row{}
	}
	name := sections[section][0]
	table.sections[name] = append(table.sections[name], row{position, cells})
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		printTable()
		os.Exit(code)
	}))
}

func printTable() {
	for _, s := range sections {
		rows := table.sections[s[0]]
		if len(rows) == 0 {
			continue
		}
		slices.SortStableFunc(rows, func(a, b row) int { return a.position - b.position })
		fmt.Printf("\n%s\n\n| %s |\n|%s\n", s[0], strings.Join(s[1:], " | "), strings.Repeat("---|", len(s)-1))
		for _, r := range rows {
			fmt.Printf("| %s |\n", strings.Join(r.cells, " | "))
		}
	}
}

// counts contains how often each outcome of a condition occurred.
type counts struct {
	all  int
	hits map[string]int
}

func (c *counts) add(names ...string) {
	if c.hits == nil {
		c.hits = map[string]int{}
	}
	c.all++
	for _, name := range names {
		c.hits[name]++
	}
}

// share returns an outcome's share in percent.
func (c *counts) share(name string) float64 {
	return 100 * float64(c.hits[name]) / float64(max(1, c.all))
}

// percent formats shares of outcomes.
func (c *counts) percent(names ...string) string {
	if c.all == 0 {
		return "-"
	}
	var out []string
	for _, name := range names {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%.1f", c.share(name)), ".0"))
	}
	return strings.Join(out, "/")
}

// when returns name if ok is set.
func when(ok bool, name string) string {
	if ok {
		return name
	}
	return ""
}

// quantile returns a quantile of durations, or 0 without any.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// millis formats the median and the 95th percentile of durations.
func millis(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%d, %d", quantile(all, 0.5).Milliseconds(), quantile(all, 0.95).Milliseconds())
}

// small reports whether the synthesized corpus is measured, whose results the tests check.
func small() bool { return *corpusDir == "" }

// atLeast and atMost check a result of the small measurement. want is the result when the row was written, and noise the change that a
// harmless edit may cause.
func atLeast(t *testing.T, what string, got, want, noise float64) {
	t.Helper()
	if small() && got < want-noise {
		t.Errorf("%s: %.1f, want at least %.1f less %.1f", what, got, want, noise)
	}
}

func atMost(t *testing.T, what string, got, want, noise float64) {
	t.Helper()
	if small() && got > want+noise {
		t.Errorf("%s: %.1f, want at most %.1f and %.1f", what, got, want, noise)
	}
}
