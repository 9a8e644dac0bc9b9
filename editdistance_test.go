package callwright_test

import (
	"testing"

	"github.com/callwright/callwright"
)

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "äö", 2}, {"kitten", "sitting", 3}, {"speed", "sped", 1}, {"abc", "abc", 0}, {"ab", "ba", 2},
	} {
		if got, back := callwright.EditDistance(test.a, test.b), callwright.EditDistance(test.b, test.a); got != test.want || back != test.want {
			t.Errorf("%q and %q: %d and %d, not %d", test.a, test.b, got, back, test.want)
		}
	}
}
