package analytics

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/stats"
)

// Run contains the data of an ended run that analytics read.
type Run struct {
	ID        string
	Scenario  string // id of the scenario
	Version   int
	State     stats.State
	CreatedAt time.Time
	Summary   Summary
	Scripted  bool // the run needs a language model, but used none
}

// Summary encodes the data of a run that analytics read in addition to its row: its score, the visited nodes, and the node to which its
// failure is attributed. It contains nodes only as ids, and no words of the conversation. It is empty if the run has no outcome or is older
// than summaries.
type Summary string

// These constants limit a Summary. Databases store it in an index, whose entries must be short.
const (
	maxNode = 128  // bytes of a node's id; longer ids are truncated
	maxPath = 1800 // bytes of a path
)

// These constants are parts of a Summary, which consists of format, score, index of the blamed node in the path, and path.
const (
	format    = "1"
	none      = "-"
	separator = "\x1f" // between the nodes of a path
)

// NewSummary returns the summary of a run. score may be nil. visits are the ids of the visited nodes, in order. NewSummary omits repeated
// visits, and visits beyond the limits unless they are to the blamed node. blame is the id of the visited node to which the run's failure
// is attributed, or empty if there is none.
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

// unseparated deletes the path separator, and characters that databases cannot store.
var unseparated = strings.NewReplacer(separator, "", "\x00", "")

// clean returns an id as it appears in a path: valid UTF-8 of at most maxNode bytes, without separators.
func clean(id string) string {
	return callwright.Clip(strings.ToValidUTF8(unseparated.Replace(id), ""), maxNode)
}

// Score returns the score of the run, or nil if the summary contains none.
func (s Summary) Score() *float64 {
	score, _ := s.parts()
	return score
}

// parts returns the score and the rest of a summary. The rest is equal for all runs with the same path and blamed node, and empty if the
// format is unknown.
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

// nodes returns the distinct nodes of a way in the order of their first visits, and the index of the blamed node, or -1 if none is blamed.
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
