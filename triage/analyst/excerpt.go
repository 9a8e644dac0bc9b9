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

// The limits of the shown part of one resource, in bytes.
const (
	maxExcerpt = 30_000 // in all
	maxLine    = 1_500  // of a line's text
	maxName    = 100    // of a fact's name
)

// excerpt is the part of a resource that the model is shown.
type excerpt struct {
	Facts map[string]json.RawMessage
	Lines []quote // in order, possibly with gaps
	Total int     // number of all lines
}

// quote is a line of a conversation with its number.
type quote struct {
	Line    int    `json:"line"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

// fact is a named value as text.
type fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// cut selects the evidence that fits: flagged lines first, then the lines nearest to them; without flags, the lines
// nearest to the beginning and the end. A text that does not fit is clipped.
func cut(e triage.Evidence, flagged []int) excerpt {
	most := maxExcerpt
	if len(e.Lines) > 0 {
		most /= 2
	}
	facts, size := cutFacts(e.Facts, most)
	return excerpt{Facts: facts, Lines: cutLines(e.Lines, flagged, maxExcerpt-size), Total: len(e.Lines)}
}

// cutFacts keeps the short facts first and returns the bytes that they take.
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
		for most := left; len(text) > left; most /= 2 { // as JSON a text may be longer
			text, _ = json.Marshal(clip(string(raw[name]), most)) //nolint:errchkjson // a text always has a form
		}
		kept[name], size = text, size+len(name)+len(text)
	}
	return kept, size
}

// cutLines keeps the most relevant lines.
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

// distances returns the distance of each of n lines to the nearest flagged one; without flags, to the beginning or
// the end.
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

// clip cuts a text to its limit, without characters that databases cannot store.
func clip(text string, most int) string {
	return callwright.Clip(strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "")), most)
}
