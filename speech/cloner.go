package speech

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// Cloner makes voices from recordings. speechtest.RunCloner tests an adapter. Package profile contains the local Cloner, which makes
// profiles; a provider's adapter can make clones. The methods may be called concurrently.
type Cloner interface {
	// Describe returns the adapter's name, for example "profile", and the kind of its voices: KindProfile or KindClone. The name contains
	// no characters for which callwright.Hidden returns true.
	Describe() (name string, kind Kind)
	// Clone makes a voice. ID is new and identifies the voice to the provider: a second call with the same ID, even a concurrent one,
	// returns an equal Clone. Clone returns CodeBadRequest with the field "audio_samples" for unusable recordings, such as silence or no
	// samples. It does not change the recordings. It returns an error when ctx ends; a later call with the same ID can succeed.
	Clone(ctx context.Context, r Cloning) (Clone, error)
	// Delete deletes the provider's data of the voice that Clone made with this id. It returns nil for an unknown id.
	Delete(ctx context.Context, org callwright.OrgID, id string) error
}

// Cloning describes a voice to make.
type Cloning struct {
	ID         string
	Org        callwright.OrgID
	Name       string      // may be empty
	Language   string      // of the recordings, BCP 47; empty if unknown
	Gender     string      // of the speaker, as in the request; empty if unknown
	Recordings []pcm.Audio // mono, at least one; at most MaxRecording in total
}

// Clone describes a voice that a Cloner has made.
type Clone struct {
	Base        string      // name of the engine's voice that speaks; never empty
	Prosody     tts.Prosody // accepted by Prosody.Check
	Language    string      // BCP 47; empty means any language
	Description string      // readable measurements; at most MaxDescription characters, none of them callwright.Hidden
}

// Decoder decodes uploaded recordings. speechtest.RunDecoder tests an adapter. Decode may be called concurrently.
type Decoder interface {
	// Decode returns the audio of a file as mono. It chooses the sample rate, at least pcm.MinRate, and returns the same samples for the
	// same file. The length is exact to 0.2 s. Decode detects the type from the bytes.
	//
	// It returns CodeUnsupportedMedia, with a message that names the supported types, for a file that it cannot decode. It returns
	// CodePayloadTooLarge if the audio lasts longer than limit; decoding stops at the limit, so that the limit bounds memory regardless of
	// the stated length. For a damaged or truncated file it returns one of these codes, or audio that exceeds limit by at most a second. It
	// returns an error if src fails before the end of the file, or if ctx ends.
	Decode(ctx context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error)
}
