package speechtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
)

// wavs is a decoder that accepts WAV files only.
type wavs struct{}

func (wavs) Decode(ctx context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error) {
	refused := callwright.Errorf(callwright.CodeUnsupportedMedia, "WAV")
	r, err := pcm.NewWAVReader(src)
	if err != nil {
		return pcm.Audio{}, refused
	}
	audio := pcm.Audio{Rate: r.Rate, Channels: r.Channels}
	for piece := make([]int16, 8*1000); ; {
		n, err := r.Read(piece)
		audio.Samples = append(audio.Samples, piece[:n]...)
		switch ended := errors.Is(err, io.EOF); {
		case ctx.Err() != nil:
			return pcm.Audio{}, ctx.Err()
		case audio.Duration() > limit:
			return pcm.Audio{}, callwright.Errorf(callwright.CodePayloadTooLarge, "too long")
		case ended && len(audio.Samples) >= r.Channels:
			return pcm.Audio{Rate: r.Rate, Channels: 1, Samples: audio.Mono()}, nil
		case err != nil:
			return pcm.Audio{}, refused
		}
	}
}

func TestDecoderOfOneType(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	sound := pcm.Audio{Rate: 8000, Channels: 1, Samples: slices.Repeat([]int16{0, 9000, 0, -9000}, 4000)}
	if err := pcm.WriteWAV(&file, sound); err != nil {
		t.Fatal(err)
	}
	speechtest.RunDecoder(t, speechtest.DecoderHarness{
		New:   func(*testing.T) speech.Decoder { return wavs{} },
		Files: map[string]speechtest.DecoderFile{"a tone": {Bytes: file.Bytes(), Duration: sound.Duration()}},
	})
}
