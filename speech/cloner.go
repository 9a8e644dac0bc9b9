package speech

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// Cloner makes voices of recordings. speechtest.RunCloner tests an adapter. Package profile has the local one, which makes
// profiles; a provider's adapter can make clones.
type Cloner interface {
	// Describe returns the adapter's name, such as "profile", and the kind of voices that it makes.
	Describe() (name string, kind Kind)
	// Clone makes a voice. ID is new and names the voice to the provider: a second call with it gives the same voice. A
	// recording that no voice can be made of is CodeBadRequest with the field "audio_samples". Clone ends when ctx does.
	Clone(ctx context.Context, r Cloning) (Clone, error)
	// Forget removes what the provider keeps of a voice that Clone has made with this id. An unknown one is no error.
	Forget(ctx context.Context, org callwright.OrgID, id string) error
}

// Cloning describes a voice to make.
type Cloning struct {
	ID         string
	Org        callwright.OrgID
	Name       string
	Language   string      // of the recordings, BCP 47; empty: not known
	Gender     string      // of the speaker, as given; empty: not known
	Recordings []pcm.Audio // mono, at least one; together at most MaxRecording
}

// Clone describes a voice that a Cloner has made.
type Clone struct {
	Base        string // the voice of the engine that speaks
	Prosody     tts.Prosody
	Language    string // BCP 47; empty: any
	Description string // what was measured or made, for people; at most MaxDescription characters
}

// Decoder reads uploaded recordings. speechtest.RunDecoder tests an adapter.
type Decoder interface {
	// Decode returns the audio of a file as mono, at a rate of its choice. The type is found from the bytes. A file that cannot
	// be decoded is CodeUnsupportedMedia, with a message that names the types that can. Audio that lasts longer than limit is
	// CodePayloadTooLarge; decoding stops there, so that memory is bounded by the limit. Decode ends when ctx does.
	Decode(ctx context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error)
}
