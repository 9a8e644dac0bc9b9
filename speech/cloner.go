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
// profiles; a provider's adapter can make clones. Its methods may run concurrently.
type Cloner interface {
	// Describe returns the adapter's name, for example "profile", without characters that callwright.Hidden reports, and the kind
	// of voices that it makes: KindProfile or KindClone.
	Describe() (name string, kind Kind)
	// Clone makes a voice. ID is new and names the voice to the provider: a second call with it, also a concurrent one, returns an
	// equal Clone. Unusable recordings, such as silence or no samples, are CodeBadRequest with the field "audio_samples". Clone
	// does not change the recordings. It ends with an error when ctx does; a later call with the ID can succeed.
	Clone(ctx context.Context, r Cloning) (Clone, error)
	// Delete deletes the provider's data of the voice that Clone has made with this id. An unknown id is no error.
	Delete(ctx context.Context, org callwright.OrgID, id string) error
}

// Cloning describes a voice to make.
type Cloning struct {
	ID         string
	Org        callwright.OrgID
	Name       string      // may be empty
	Language   string      // of the recordings, BCP 47; empty: not known
	Gender     string      // of the speaker, as given; empty: not known
	Recordings []pcm.Audio // mono, at least one; together at most MaxRecording
}

// Clone describes a voice that a Cloner has made.
type Clone struct {
	Base        string      // the name of the engine's voice that speaks; never empty
	Prosody     tts.Prosody // passes Prosody.Check
	Language    string      // BCP 47; empty: any
	Description string      // human-readable measurements; at most MaxDescription characters, none that callwright.Hidden reports
}

// Decoder reads uploaded recordings. speechtest.RunDecoder tests an adapter. Calls may run concurrently.
type Decoder interface {
	// Decode returns the audio of a file as mono, at a rate of its choice, at least pcm.MinRate; the same file gives the same
	// samples. Its length is exact to 0.2 s. Decode detects the type from the bytes. A file that cannot be decoded is
	// CodeUnsupportedMedia, with a message that names the supported types. Audio that lasts longer than limit is
	// CodePayloadTooLarge; decoding stops there, so that the limit bounds memory, regardless of the stated length. A damaged or
	// truncated file is one of the two codes, or audio of at most a second more than limit. An error of src before the end of the
	// file is an error. Decode ends with an error when ctx does.
	Decode(ctx context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error)
}
