package loatest_test

import (
	"testing"

	"github.com/callwright/callwright/porting/loa/loatest"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	loatest.RunRenderer(t, loatest.Plain{}, loatest.Plain{}.Pages)
}
