package flite_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/speech/speechtest"
)

func TestProsody(t *testing.T) {
	t.Parallel()
	speechtest.RunProsody(t, open(t, flite.Config{}))
}
