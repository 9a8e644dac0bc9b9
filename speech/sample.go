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
	User      string // the id of the requesting key; empty: unknown
	Text      string
	Voice     string // the id of the voice; it stays when the voice is deleted
	Language  string // as requested
	Format    Format
	Key       string // a digest of the audio's inputs, by which later requests find it
	Blob      string // the name of the audio in Blobs
	Bytes     int64  // of the audio file
	Duration  time.Duration
	Latency   time.Duration // duration of the synthesis
	CreatedAt time.Time
}

// Samples stores samples. speechtest.RunSamples tests an adapter. All methods take part in the transaction of ctx, and see its
// earlier changes. Every field comes back unchanged, Duration and Latency to the nanosecond; times are returned in UTC, exact to
// the microsecond.
type Samples interface {
	// InsertSample adds a sample of s.Org; CodeConflict when any organization's sample has the same id.
	InsertSample(ctx context.Context, s Sample) error
	// Sample returns a sample of an organization; CodeNotFound when it has none with this id.
	Sample(ctx context.Context, org callwright.OrgID, id string) (Sample, error)
	// SampleByKey returns the newest sample of an organization with a Key that was made at or after a time; CodeNotFound without
	// one.
	SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (Sample, error)
	// ListSamples returns at most limit samples of an organization from the offset on, newest first and then by descending id, and
	// their number without limit and offset. A non-empty voice selects the samples with exactly this Voice. The total is exact,
	// also after concurrent calls; the time to compute it must not grow with the number of samples. An offset beyond the last
	// sample returns none, and the total.
	ListSamples(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) (list []Sample, total int, err error)
	// DeleteSample deletes a sample permanently; CodeNotFound when the organization has none with this id. Of concurrent calls one
	// deletes it.
	DeleteSample(ctx context.Context, org callwright.OrgID, id string) error
	// DeleteSamples deletes the oldest samples of all organizations that were made before a time, at most limit, and returns them,
	// oldest first and then by ascending id. Concurrent calls delete different samples, and may delete fewer than limit.
	DeleteSamples(ctx context.Context, before time.Time, limit int) ([]Sample, error)
	// BlobUsed reports whether any sample of an organization names a Blob.
	BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (bool, error)
}

// Blobs stores audio. speechtest.RunBlobs tests an adapter. Several nodes need storage that all of them can reach. Methods and
// readers may run concurrently. Methods return soon after ctx ends.
type Blobs interface {
	// StoreBlob stores audio of an organization under a new name, byte for byte; the content need not be audio. Size is exact, from 0
	// on: an r with fewer or more bytes is an error. Names and organizations are 1 to 128 letters, digits, _ and -. Others are
	// refused, or stored literally: they never address a blob of another name or organization. When StoreBlob returns nil, the audio
	// survives a crash. On an error of r, which errors.Is finds in the result, on an error of the storage, and when ctx ends,
	// nothing is stored, and the name stays new: OpenBlob never finds a part, not even while r is read. When ctx ends, StoreBlob
	// stops reading r, which may be endless, and returns an error. A full disk is CodeUnavailable.
	StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error
	// OpenBlob opens audio; CodeNotFound for an unknown name, and for a name that StoreBlob refuses. Readers have separate positions,
	// and seek as an *os.File does: an offset before the beginning is an error. Truncated audio fails to open or to be read, never
	// silently and never with CodeNotFound.
	OpenBlob(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error)
	// DeleteBlob deletes audio. Absent audio, and a name that StoreBlob refuses, are no error. An open reader continues to the end of
	// the audio, or fails; it never ends early with io.EOF.
	DeleteBlob(ctx context.Context, org callwright.OrgID, name string) error
}
