package speech

import (
	"cmp"
	"slices"

	"github.com/callwright/callwright"
)

// nearest returns up to n of names, the most similar first. Their edit distance from name is below name's length, and at most 2 or a third
// of that length, whichever is greater. nearest returns none for a very long name.
func nearest(name string, names []string, n int) []string {
	type candidate struct {
		name     string
		distance int
	}
	wanted := []rune(Key(name))
	if len(wanted) > 4*MaxName {
		return nil
	}
	var found []candidate
	for _, other := range names {
		if d := callwright.EditDistance(string(wanted), Key(other)); d <= max(2, len(wanted)/3) && d < max(len(wanted), 1) {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range found[:min(n, len(found))] {
		out = append(out, c.name)
	}
	return out
}
