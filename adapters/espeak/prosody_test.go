package espeak_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/espeak"
	"github.com/callwright/callwright/speech/speechtest"
)

func TestProsody(t *testing.T) {
	t.Parallel()
	speechtest.RunProsody(t, open(t, espeak.Config{}), "en-us", "de", "es")
}
