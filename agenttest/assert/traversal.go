package assert

import (
	"context"
	"slices"
)

// pathMode determines how a visited path must resemble the reference.
type pathMode string

// The modes of TraversalMatch.
const (
	similarity  pathMode = "similarity"  // the share of steps that need no edit is at least a threshold
	exact       pathMode = "exact"       // the same nodes in the same order
	prefix      pathMode = "prefix"      // the path begins with the reference
	subsequence pathMode = "subsequence" // the path contains the reference in order, possibly with other nodes between
	unordered   pathMode = "unordered"   // the same nodes, equally often, in any order
)

// Traversal is the Result.Actual of a TraversalMatch assertion.
type Traversal struct {
	Path       []string `json:"path"`       // the visited nodes that were compared
	Similarity float64  `json:"similarity"` // 1 - Levenshtein distance / length of the longer path
	LCS        float64  `json:"lcs"`        // 2 * longest common subsequence / sum of both lengths
	Diff       []Edit   `json:"diff"`       // from the reference to the visited path
}

// Edit is a step of a Traversal's diff.
type Edit struct {
	Op        EditOp `json:"op"`
	Node      string `json:"node"`
	Reference int    `json:"reference"` // index in the reference; -1 for Insert
	Visited   int    `json:"visited"`   // index in the visited path; -1 for Delete
}

// EditOp is the operation of an Edit.
type EditOp string

// The EditOp of an Edit.
const (
	Keep   EditOp = "keep"   // the node was visited as in the reference
	Insert EditOp = "insert" // the node was visited, but the reference does not contain it here
	Delete EditOp = "delete" // the node of the reference was not visited here
)

// traversalRule is the rule of TraversalMatch.
type traversalRule struct {
	reference []string
	mode      pathMode
	threshold float64
	collapse  bool
}

func compileTraversal(f *fields, _ *Assertion) rule {
	c := &traversalRule{}
	f.require("reference_path")
	c.reference = f.nodeList("reference_path", 1, MaxNodes)
	c.mode = choice(f, "mode", similarity, exact, prefix, subsequence, unordered)
	if c.mode == similarity {
		c.threshold = f.number("threshold", 0.8, 0, 1)
	} else {
		f.forbid("threshold", "is allowed with the mode similarity only")
	}
	if c.collapse = f.flag("collapse_repeats", true); c.collapse {
		c.reference = collapse(c.reference)
	}
	return c
}

// collapse returns a path without immediate repetitions.
func collapse(path []string) []string { return slices.Compact(slices.Clone(path)) }

func (c *traversalRule) evaluate(_ context.Context, e *Evidence, _ evaluationTools, r *Result) {
	r.Expected = slices.Clone(c.reference)
	visits := e.path()
	if c.collapse {
		visits = slices.Compact(visits)
	}
	if len(visits) > MaxNodes {
		r.failf(Error, CodeTooLarge, "The visited path has more than %d nodes.", MaxNodes)
		return
	}
	edits, kept := compare(c.reference, visits)
	longer := max(len(c.reference), len(visits))
	like := share(longer-distance(c.reference, visits), longer)
	r.Actual = Traversal{Path: visits, Similarity: like, LCS: share(2*kept, len(c.reference)+len(visits)), Diff: edits}
	score, pass := c.score(visits, like, kept)
	if pass {
		r.passf("The visited path is like the reference (%s, similarity %.2f).", c.mode, like)
	} else {
		r.failf(Failed, CodeWrongPath, "The visited path is not like the reference (%s, similarity %.2f): %d of %d nodes of the reference were visited in order.",
			c.mode, like, kept, len(c.reference))
		r.Node = lastKept(edits)
	}
	r.score(score)
}

// score returns the score of a path, and reports whether the path passes. In the mode similarity, a path passes if its score is at least
// the threshold; in the other modes, only if its score is 1.
func (c *traversalRule) score(visits []string, like float64, kept int) (score float64, pass bool) {
	switch c.mode {
	case exact:
		return like, slices.Equal(c.reference, visits)
	case prefix:
		n := 0
		for n < min(len(c.reference), len(visits)) && c.reference[n] == visits[n] {
			n++
		}
		return share(n, len(c.reference)), n == len(c.reference)
	case subsequence:
		return share(kept, len(c.reference)), kept == len(c.reference)
	case unordered:
		n := common(c.reference, visits)
		longer := max(len(c.reference), len(visits))
		return share(n, longer), n == longer
	default:
		return like, like >= c.threshold
	}
}

// share returns part / whole, or 1 if whole is 0.
func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// common returns the number of nodes that two paths have in common, regardless of order. A repeated node counts as often as both paths
// contain it.
func common(a, b []string) int {
	counts := make(map[string]int, len(a))
	for _, s := range a {
		counts[s]++
	}
	n := 0
	for _, s := range b {
		if counts[s] > 0 {
			counts[s]--
			n++
		}
	}
	return n
}

// ends returns the number of equal nodes at the beginning of two paths, and then the number at their end.
func ends(a, b []string) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// distance returns the Levenshtein distance of two paths: the number of nodes to insert, delete or replace. Its time is
// proportional to the product of their lengths.
func distance(a, b []string) int {
	head, tail := ends(a, b)
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a) == 0 || len(b) == 0 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1) // distances of a's nodes so far to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// compare returns a shortest diff from one path to another, and the number of kept nodes, which is the length of the longest common
// subsequence. Each path may have at most MaxNodes nodes. Time and memory are proportional to the product of the lengths.
func compare(from, to []string) (edits []Edit, kept int) {
	head, tail := ends(from, to)
	edits = make([]Edit, 0, len(from)+len(to)-head-tail)
	for i := range head {
		edits = append(edits, Edit{Keep, from[i], i, i})
	}
	a, b := from[head:len(from)-tail], to[head:len(to)-tail]
	table := lengths(a, b)
	width := len(b) + 1
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			edits = append(edits, Edit{Keep, a[i], head + i, head + j})
			kept++
			i++
			j++
		case j == len(b) || i < len(a) && table[(i+1)*width+j] >= table[i*width+j+1]:
			edits = append(edits, Edit{Delete, a[i], head + i, -1})
			i++
		default:
			edits = append(edits, Edit{Insert, b[j], -1, head + j})
			j++
		}
	}
	for k := range tail {
		edits = append(edits, Edit{Keep, from[len(from)-tail+k], len(from) - tail + k, len(to) - tail + k})
	}
	return edits, kept + head + tail
}

// lengths returns a table of the lengths of the longest common subsequences of a[i:] and b[j:], with a row for each i. It returns nil if a
// path is empty.
func lengths(a, b []string) []uint16 {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	width := len(b) + 1
	table := make([]uint16, (len(a)+1)*width)
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	return table
}

// lastKept returns the last node that a diff keeps, or "" if it keeps none.
func lastKept(edits []Edit) string {
	for _, e := range slices.Backward(edits) {
		if e.Op == Keep {
			return e.Node
		}
	}
	return ""
}
