package speechstore_test

import (
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
)

func TestVoices(t *testing.T) {
	t.Parallel()
	speechtest.RunVoices(t, func(*testing.T) (speech.Voices, callwright.Atomic) {
		s := memstore.New()
		return speechstore.Voices{Store: s}, s
	})
}

func TestSamples(t *testing.T) {
	t.Parallel()
	speechtest.RunSamples(t, func(*testing.T) (speech.Samples, callwright.Atomic) {
		s := memstore.New()
		return speechstore.Samples{Store: s}, s
	})
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	speechtest.RunBlobs(t, func(*testing.T) speech.Blobs { return new(speechstore.Blobs) }, nil)
}
