package analytics

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/stats"
)

// Run holds the parts of an ended run that analytics read.
type Run struct {
	ID        string
	Scenario  string // id
	Version   int
	State     stats.State
	CreatedAt time.Time
	Summary   Summary
	Scripted  bool // run without a language model, although it needs one
}

// Summary encodes the parts of a run that analytics read beside its row: its score, the visited nodes, and the node to which its
// failure is blamed. It contains only ids of nodes, no words. Empty: the run is older than summaries, or has no outcome.
type Summary string

// The limits of a Summary. Databases store it in an index, whose entries are short.
const (
	maxNode = 128  // bytes of the id of a node; longer ones are cut off
	maxPath = 1800 // bytes of a path
)

// The parts of a Summary: format, score, number of the blamed node in the path, path.
const (
	format    = "1"
	none      = "-"
	separator = "\x1f" // between nodes of a path
)

// NewSummary returns the summary of a run. score may be nil. visits are the ids of the visited nodes, in order. blame is the id of
// the node to which its failure is attributed; empty: none.
func NewSummary(score *float64, visits []string, blame string) Summary {
	path := make([]string, 0, len(visits))
	seen, blame, length, whole := map[string]bool{}, clean(blame), 0, true
	for _, id := range visits {
		id = clean(id)
		if id == "" || seen[id] {
			continue
		}
		seen[id] = true
		if whole = whole && length+len(id) <= maxPath; whole {
			path, length = append(path, id), length+len(id)+len(separator)
		}
	}
	blamed := none
	if blame != "" && seen[blame] {
		if !slices.Contains(path, blame) {
			path = append(path, blame)
		}
		blamed = strconv.Itoa(slices.Index(path, blame))
	}
	rated := none
	if score != nil {
		rated = strconv.FormatFloat(*score, 'g', -1, 64)
	}
	return Summary(strings.Join([]string{format, rated, blamed, strings.Join(path, separator)}, " "))
}

// unseparated deletes the separator of paths, and characters that databases cannot store.
var unseparated = strings.NewReplacer(separator, "", "\x00", "")

// clean returns an id in the form of a path.
func clean(id string) string {
	return callwright.Clip(strings.ToValidUTF8(unseparated.Replace(id), ""), maxNode)
}

// Score returns the score of the run; nil: none.
func (s Summary) Score() *float64 {
	score, _ := s.parts()
	return score
}

// parts returns the score and the rest, which is equal for all runs of the same way; empty: unknown.
func (s Summary) parts() (score *float64, way string) {
	version, rest, _ := strings.Cut(string(s), " ")
	rated, way, ok := strings.Cut(rest, " ")
	if version != format || !ok {
		return nil, ""
	}
	if rated == none {
		return nil, way
	}
	if value, err := strconv.ParseFloat(rated, 64); err == nil && value >= 0 && value <= 1 {
		score = &value
	}
	return score, way
}

// nodes returns the distinct nodes of a way in the order of their first visits, and the number of the blamed one; -1: none.
func nodes(way string) (path []string, blamed int) {
	number, joined, _ := strings.Cut(way, " ")
	if joined == "" {
		return nil, -1
	}
	path = strings.Split(joined, separator)
	blamed, err := strconv.Atoi(number)
	if err != nil || blamed < 0 || blamed >= len(path) {
		blamed = -1
	}
	return path, blamed
}
