package callwright

// EditDistance returns the Levenshtein distance of a and b: the smallest number of characters to insert, delete or replace to convert a to
// b. Its time grows with the product of the lengths.
func EditDistance(a, b string) int {
	to := []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range []rune(a) {
		corner := row[0]
		row[0] = i + 1
		for j, d := range to {
			cost := corner
			if c != d {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
