package letterpdf_test

import (
	"testing"

	"github.com/callwright/callwright/porting/loa/loatest"
)

func TestConforms(t *testing.T) {
	t.Parallel()
	loatest.RunRenderer(t, newRenderer(t), pagesAsRead)
}
