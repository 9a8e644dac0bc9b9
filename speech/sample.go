package speech

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Format is the format of audio: a WAV file of one channel.
type Format string

// The formats of audio: 16-bit linear PCM at a rate in Hz, and mu-law (ITU-T G.711) at 8 kHz.
const (
	PCM8000  Format = "pcm_8000"
	PCM16000 Format = "pcm_16000"
	PCM24000 Format = "pcm_24000"
	PCM44100 Format = "pcm_44100" // the default
	PCM48000 Format = "pcm_48000"
	ULaw8000 Format = "ulaw_8000"
)

// Formats returns all formats.
func Formats() []Format { return []Format{PCM8000, PCM16000, PCM24000, PCM44100, PCM48000, ULaw8000} }

// Rate returns the samples a second; 0 for an unknown format.
func (f Format) Rate() int {
	switch f {
	case PCM8000, ULaw8000:
		return 8000
	case PCM16000:
		return 16000
	case PCM24000:
		return 24000
	case PCM44100:
		return 44100
	case PCM48000:
		return 48000
	}
	return 0
}

// Sample is a past speech output. Its audio is in Blobs, under Blob; several samples may share it.
type Sample struct {
	ID        string
	Org       callwright.OrgID
	User      string // the id of the key that has asked for it; empty: not known
	Text      string
	Voice     string // the id of the voice; it stays when the voice is deleted
	Language  string // as requested
	Format    Format
	Key       string // a digest of what the audio is made of, by which it is found again
	Blob      string // where the audio is
	Bytes     int64  // of the audio file
	Duration  time.Duration
	Latency   time.Duration // what the synthesis took
	CreatedAt time.Time
}

// Samples stores samples. speechtest.RunSamples tests an adapter. All methods take part in the transaction of ctx.
type Samples interface {
	// InsertSample adds a sample of s.Org; CodeConflict when its id is taken.
	InsertSample(ctx context.Context, s Sample) error
	// Sample returns a sample of an organization; CodeNotFound when it has none with this id.
	Sample(ctx context.Context, org callwright.OrgID, id string) (Sample, error)
	// SampleByKey returns the newest sample of an organization with a Key that was made at or after a time; CodeNotFound when
	// there is none.
	SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (Sample, error)
	// ListSamples returns samples of an organization, newest first and then by descending id, and how many there are in all. A
	// voice that is not empty selects its samples. The time for the total must not grow with the number of samples.
	ListSamples(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) (list []Sample, total int, err error)
	// DeleteSample removes a sample for good; CodeNotFound when the organization has none with this id. Of concurrent calls one removes it.
	DeleteSample(ctx context.Context, org callwright.OrgID, id string) error
	// DeleteSamples removes the oldest samples of all organizations that were made before a time, at most limit, and returns
	// them. Concurrent calls remove different samples.
	DeleteSamples(ctx context.Context, before time.Time, limit int) ([]Sample, error)
	// BlobUsed reports whether a sample of an organization has a Blob.
	BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (bool, error)
}

// Blobs keeps audio. speechtest.RunBlobs tests an adapter. Programs on several machines need storage that all of them reach.
type Blobs interface {
	// PutBlob keeps audio of an organization under a name that is new. Size is exact: an r with fewer or more bytes is an
	// error. Names have 1 to 128 letters, digits, _ and -; others may be refused. When PutBlob returns nil, the audio
	// outlives a crash. On an error of r or of the storage, and when ctx ends, nothing is kept: OpenBlob never finds a
	// part. When ctx ends it stops reading r, and returns an error: an r may go on for ever. A full disk is CodeUnavailable.
	PutBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error
	// OpenBlob opens audio; CodeNotFound when there is none with this name. Reading fails when the audio is shorter than it
	// was, never silently.
	OpenBlob(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error)
	// DeleteBlob removes audio. Absent audio is no error. A reader of the audio goes on to its end, or fails.
	DeleteBlob(ctx context.Context, org callwright.OrgID, name string) error
}
