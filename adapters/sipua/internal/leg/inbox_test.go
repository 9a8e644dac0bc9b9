package leg_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/sipua/internal/leg"
)

func TestInboxRestoresTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := []uint32{0, 2, 3, 4, 5, 6}
		missing := rapid.SampledFrom([]int{-1, 0, 1, 2, 3, 4, 5}).Draw(t, "missing")
		if missing >= 0 {
			sent = slices.Delete(sent, missing, missing+1)
		}
		atOnce, late := leg.InOrder(rapid.Permutation(sent).Draw(t, "arrival"))
		if got, want := slices.Concat(atOnce, late), slices.DeleteFunc(sent, func(n uint32) bool { return n == 0 }); !slices.Equal(got, want) {
			t.Fatalf("%v", got)
		}
		if complete := missing < 0 || missing == len(sent); complete != (len(late) == 0) {
			t.Fatalf("missing %d, yet %v waited", missing, late)
		}
	})
}
