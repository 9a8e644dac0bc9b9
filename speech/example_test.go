package speech_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// The example synthesizes a text with its own tts.Engine, and stores the speech as a sample in its own speech.Blobs.
func Example() {
	memory := memstore.New()
	service, err := speech.New(speech.Config{
		Engine: beeper{}, Blobs: new(shelf), Voices: speechstore.Voices{Store: memory}, Samples: speechstore.Samples{Store: memory},
		Atomic: memory, Work: memstore.NewWork(memory, nil), Key: callwright.Secret(strings.Repeat("a secret ", 4)),
	})
	if err != nil {
		log.Fatal(err)
	}
	sample, err := service.Speak(context.Background(), "acme", speech.Request{Text: "Hello there.", Format: speech.PCM16000})
	fmt.Println(sample.Voice, sample.Duration, sample.Bytes, err)
	// Output: beep 1.2s 38444 <nil>
}

// beeper is an engine that beeps for a tenth of a second per byte of the text, in every language.
type beeper struct{}

func (beeper) Describe() tts.Description {
	return tts.Description{Name: "beeper", Voices: []tts.Voice{{Name: "beep"}}, Default: "beep"}
}

func (beeper) CheckVoice(string, string) error { return nil }

func (beeper) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	return tts.Samples(ctx, slices.Repeat([]int16{8000, 8000, -8000, -8000}, len(r.Text)*max(r.Rate, 0)/40)), r.Check()
}

// shelf stores audio in memory, by organization and name.
type shelf struct{ sync.Map }

func (s *shelf) StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
	audio, err := speech.ReadBlob(ctx, r, size)
	if err == nil {
		s.Store([2]string{string(org), name}, audio)
	}
	return err
}

func (s *shelf) OpenBlob(_ context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	kept, _ := s.Load([2]string{string(org), name})
	if audio, ok := kept.([]byte); ok {
		return book{bytes.NewReader(audio)}, nil
	}
	return nil, callwright.NotFound("audio")
}

func (s *shelf) DeleteBlob(_ context.Context, org callwright.OrgID, name string) error {
	s.Delete([2]string{string(org), name})
	return nil
}

type book struct{ *bytes.Reader }

func (book) Close() error { return nil }

// TestExample runs the conformance suites for the engine and the Blobs of the Example.
func TestExample(t *testing.T) { //nolint:paralleltest // RunSynthesizer must not
	speechtest.RunSynthesizer(t, speechtest.SynthesizerHarness{
		New: func(*testing.T) tts.Synthesizer { return beeper{} }, AnyVoice: true,
	})
	speechtest.RunBlobs(t, func(*testing.T) speech.Blobs { return new(shelf) }, nil)
}
