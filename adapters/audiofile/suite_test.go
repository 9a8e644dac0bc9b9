package audiofile_test

import (
	"bytes"
	"testing"

	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	wav := speak(t)
	original, err := pcm.ReadWAV(bytes.NewReader(read(t, wav)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]speechtest.DecoderFile{}
	for name, raw := range map[string][]byte{
		"WAV": read(t, wav), "MP3": convert(t, wav, "a.mp3", "-ar", "44100", "-b:a", "64k"),
		"Ogg Vorbis": convert(t, wav, "a.ogg", "-c:a", "libvorbis"), "Ogg Opus": convert(t, wav, "a.ogg", "-c:a", "libopus", "-b:a", "24k"),
	} {
		files[name] = speechtest.DecoderFile{Bytes: raw, Duration: original.Duration()}
	}
	speechtest.RunDecoder(t, speechtest.DecoderHarness{
		New: func(*testing.T) speech.Decoder { return decoder }, Files: files, Undecodable: map[string][]byte{"archive": archive(t)},
	})
}
