package analyst

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// Limits of an excerpt, in bytes.
const (
	maxExcerpt = 30_000 // of the whole excerpt
	maxLine    = 1_500  // of a line's text
	maxName    = 100    // of a fact's name
)

// excerpt is the part of a resource's evidence that the model is shown.
type excerpt struct {
	Facts map[string]json.RawMessage
	Lines []quote // sorted by Line, possibly with gaps
	Total int     // number of lines of the whole conversation
}

// quote is a line of a conversation with its number, which starts at 0.
type quote struct {
	Line    int    `json:"line"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

// fact is the name of a fact and its value as text.
type fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// cut returns the excerpt of evidence that fits into maxExcerpt. It prefers short facts, and the lines nearest to flagged ones. Without
// flags, it prefers the lines nearest to the beginning and the end. It truncates texts that are too long.
func cut(e triage.Evidence, flagged []int) excerpt {
	most := maxExcerpt
	if len(e.Lines) > 0 {
		most /= 2
	}
	facts, size := cutFacts(e.Facts, most)
	return excerpt{Facts: facts, Lines: cutLines(e.Lines, flagged, maxExcerpt-size), Total: len(e.Lines)}
}

// cutFacts returns the facts that fit into the given number of bytes, shortest first, and the bytes that their names and values use. It
// truncates a value that does not fit.
func cutFacts(facts map[string]any, most int) (map[string]json.RawMessage, int) {
	kept, size := map[string]json.RawMessage{}, 0
	raw := make(map[string]json.RawMessage, len(facts))
	for name, v := range facts {
		if text, err := json.Marshal(v); err == nil {
			raw[clip(name, maxName)] = text
		}
	}
	names := slices.SortedFunc(maps.Keys(raw), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(raw[a]), len(raw[b])), cmp.Compare(a, b))
	})
	for _, name := range names {
		text, left := raw[name], most-size-len(name)
		if left < len(`"…"`) {
			break
		}
		for most := left; len(text) > left; most /= 2 { // JSON escapes may lengthen the clipped text
			text, _ = json.Marshal(clip(string(raw[name]), most)) //nolint:errchkjson // a text always has a form
		}
		kept[name], size = text, size+len(name)+len(text)
	}
	return kept, size
}

// cutLines returns the lines nearest to the flagged ones that fit into the given number of bytes, in order.
func cutLines(lines []triage.Line, flagged []int, most int) []quote {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	away := distances(len(lines), flagged)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(away[a], away[b]) })
	var kept []quote
	for _, i := range order {
		q := quote{Line: i, Speaker: "other side", Text: clip(lines[i].Text, maxLine)}
		if lines[i].Agent {
			q.Speaker = "agent"
		}
		raw, _ := json.Marshal(q) //nolint:errchkjson // texts and numbers always have a form
		if most -= len(raw); most < 0 {
			break
		}
		kept = append(kept, q)
	}
	slices.SortFunc(kept, func(a, b quote) int { return cmp.Compare(a.Line, b.Line) })
	return kept
}

// distances returns the distance of each of n lines to the nearest flagged line. Without a valid flag, it returns the distances to the
// first or the last line.
func distances(n int, flagged []int) []int {
	away := make([]int, n)
	for i := range away {
		away[i] = n
	}
	if flagged = slices.DeleteFunc(slices.Clone(flagged), func(i int) bool { return i < 0 || i >= n }); len(flagged) == 0 {
		flagged = []int{0, n - 1}
	}
	for _, i := range flagged {
		if n > 0 {
			away[i] = 0
		}
	}
	for i := 1; i < n; i++ {
		away[i] = min(away[i], away[i-1]+1)
	}
	for i := n - 2; i >= 0; i-- {
		away[i] = min(away[i], away[i+1]+1)
	}
	return away
}

// clip truncates a text to the given number of bytes, and removes the spaces around it and the characters that databases cannot store.
func clip(text string, most int) string {
	return callwright.Clip(strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "")), most)
}
