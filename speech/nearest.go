package speech

import (
	"cmp"
	"slices"
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
		if d := distance(wanted, []rune(Key(other))); d <= max(2, len(wanted)/3) && d < max(len(wanted), 1) {
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

// distance returns the Levenshtein distance of a and b: the smallest number of characters to insert, delete or replace to convert a to b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range a {
		corner := row[0]
		row[0] = i + 1
		for j, d := range b {
			cost := corner
			if c != d {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
