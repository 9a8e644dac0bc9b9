package stats

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Failure describes why a run failed.
type Failure struct {
	Assertion string // id of the failed assertion
	Type      string
	Code      string
	Node      string
	End       string
	Reason    string
}

// Mode is a failure mode: a group of failures with the same assertion, code, node and end, and with similar reasons.
type Mode struct {
	Label   string // the reason that is most similar to the other reasons
	Count   int
	Share   float64 // share among the failed runs
	Runs    []string
	Failure Failure // failure of the run whose reason is the Label
}

// These constants limit Modes.
const (
	maxModes   = 5
	maxReasons = 200 // different reasons that are compared per key; further ones form one group
	similar    = 0.5 // minimum Jaccard index of the word trigrams of two similar reasons
)

// Modes groups the failures of runs. It returns at most 5 modes in descending order of frequency, and equally frequent ones in the order of
// their labels. The result depends only on the runs and their order.
func Modes(runs []Run) []Mode {
	groups := map[Failure][]Run{} // by all fields except Reason
	var keys []Failure            // of groups, in the order of their first runs
	failed := 0
	for _, r := range runs {
		if r.State != Failed || r.Failure == nil {
			continue
		}
		failed++
		key := *r.Failure
		key.Reason = ""
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], r)
	}
	var modes []Mode
	for _, key := range keys {
		modes = append(modes, split(groups[key])...)
	}
	for i := range modes {
		modes[i].Share = float64(modes[i].Count) / float64(failed)
	}
	slices.SortStableFunc(modes, func(a, b Mode) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Label, b.Label), slices.Compare(a.Runs, b.Runs))
	})
	return modes[:min(len(modes), maxModes)]
}

// otherReasons is the label of the group of reasons that are not compared.
const otherReasons = "other reasons"

// reason is a normalized reason with the runs that failed for it.
type reason struct {
	grams []int // numbers of its word trigrams, sorted
	runs  []Run
}

// split divides failures with the same key into modes with similar reasons.
func split(group []Run) []Mode {
	var reasons []*reason
	byText, grams := map[string]*reason{}, map[string]int{}
	for _, r := range group {
		text := normalize(r.Failure.Reason)
		known := byText[text]
		if known == nil {
			if len(reasons) >= maxReasons { // all further reasons form one group
				text = normalize(otherReasons)
				known = byText[text]
				other := *r.Failure
				other.Reason = otherReasons
				r.Failure = &other
			}
			if known == nil {
				known = &reason{grams: trigrams(text, grams)}
				byText[text] = known
				reasons = append(reasons, known)
			}
		}
		known.runs = append(known.runs, r)
	}
	parent := make([]int, len(reasons))
	for i := range parent {
		parent[i] = i
	}
	likeness := make([][]float64, len(reasons))
	for i := range reasons {
		likeness[i] = make([]float64, len(reasons))
		for j := range i {
			likeness[i][j] = jaccard(reasons[i].grams, reasons[j].grams)
			likeness[j][i] = likeness[i][j]
			if likeness[i][j] >= similar {
				parent[root(parent, i)] = root(parent, j)
			}
		}
	}
	members := make([][]int, len(reasons)) // by representative
	for i := range reasons {
		members[root(parent, i)] = append(members[root(parent, i)], i)
	}
	var modes []Mode
	for _, of := range members {
		if len(of) > 0 {
			modes = append(modes, modeOf(reasons, of, likeness))
		}
	}
	return modes
}

// root returns the representative of the set that contains i, in a union-find forest.
func root(parent []int, i int) int {
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// modeOf returns the mode of the reasons at the given indexes. The mode's label is the medoid, which is the reason most similar to all
// others, weighted by their numbers of runs.
func modeOf(reasons []*reason, of []int, likeness [][]float64) Mode {
	var m Mode
	best := -1.0
	for _, i := range of {
		sum := float64(len(reasons[i].runs))
		for _, j := range of {
			if i != j {
				sum += likeness[i][j] * float64(len(reasons[j].runs))
			}
		}
		if sum > best {
			best, m.Failure = sum, *reasons[i].runs[0].Failure
		}
		m.Count += len(reasons[i].runs)
		for _, r := range reasons[i].runs {
			m.Runs = append(m.Runs, r.ID)
		}
	}
	m.Label = m.Failure.Reason
	slices.Sort(m.Runs)
	return m
}

// normalize returns a reason without details in which equal failures differ: case, digits, quoted texts and punctuation.
func normalize(text string) string {
	text = quoted.ReplaceAllString(strings.ToLower(text), " ")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), " ")
}

// quoted matches a text in quotation marks.
var quoted = regexp.MustCompile(`"[^"]*"|“[^”]*”`)

// trigrams returns the numbers of the word trigrams of a text, sorted. A text of fewer than three words counts as one trigram. known maps
// trigrams to their numbers, and trigrams adds new ones.
func trigrams(text string, known map[string]int) []int {
	words := strings.Fields(text)
	var grams []int
	for i := range max(1, len(words)-2) {
		gram := strings.Join(words[i:min(i+3, len(words))], " ")
		n, ok := known[gram]
		if !ok {
			n = len(known)
			known[gram] = n
		}
		grams = append(grams, n)
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// jaccard returns the size of the intersection of two sorted sets divided by the size of their union.
func jaccard(a, b []int) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
