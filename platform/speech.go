package platform

import (
	"fmt"
	"path/filepath"
	"time"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/speechstore"
	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/profile"
	"github.com/callwright/callwright/speech/tts"
)

func newBlobs(lc fx.Lifecycle, c Config) (speech.Blobs, error) {
	if c.SpeechBlobs != nil {
		return c.SpeechBlobs, nil
	}
	b, err := filestore.NewBlobs(filepath.Join(c.Data, "speech"))
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(b.Close))
	return b, nil
}

// speechParts lists the dependencies of the speech service.
type speechParts struct {
	fx.In
	Config  Config
	Secrets secrets
	DB      *bunstore.DB
	Work    callwright.Work
	Blobs   speech.Blobs
	Runtime callwright.Runtime

	SpeechEngine tts.Engine
}

// newSpeech returns the speech service. Calls use it, too, so that they can use an organization's own voices.
func newSpeech(p speechParts) (*speech.Service, error) {
	cloner, err := profile.NewCloner(p.SpeechEngine)
	if err != nil {
		return nil, err
	}
	return speech.New(speech.Config{
		Engine: p.SpeechEngine, Voices: speechstore.Voices{DB: p.DB}, Samples: speechstore.Samples{DB: p.DB}, Blobs: p.Blobs,
		Atomic: p.DB, Work: p.Work, Key: p.Secrets.SpeechLinks, Cloner: cloner, Decoder: audiofile.Decoder{Opus: opusDecoder},
		KeepFor: time.Duration(p.Config.SampleDays) * 24 * time.Hour, ReplaceUnknown: p.Config.ReplaceVoices, Runtime: p.Runtime,
	})
}

// clonedBy describes how the engine creates voices from recordings, human-readable.
func (p runsOn) clonedBy() string {
	d := p.SpeechEngine.Describe()
	if !d.Pitch && !d.Tempo {
		return "voices cannot be made from recordings: " + d.Name + " can change neither pitch nor tempo"
	}
	return fmt.Sprintf("voice profiles of %s: the pitch and the tempo of a recording, not the speaker's sound", d.Name)
}

// opusDecoder returns a decoder for the packets of uploaded Ogg Opus files. It is the decoder that calls use.
func opusDecoder() (audiofile.PacketDecoder, error) { return opus.Engine().New() }
