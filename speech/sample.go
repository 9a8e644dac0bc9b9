package speech

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Format is an audio format for WAV files with one channel.
type Format string

// The audio formats: 16-bit linear PCM at a rate in Hz, and mu-law (ITU-T G.711) at 8 kHz.
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

// Rate returns the sample rate in Hz, or 0 for an unknown format.
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

// Sample is the record of a text that was spoken. Its audio is in Blobs under Blob; several samples may share the audio.
type Sample struct {
	ID        string
	Org       callwright.OrgID
	User      string // id of the requesting key; empty if unknown
	Text      string
	Voice     string // id of the voice; unchanged when the voice is deleted
	Language  string // as in the request
	Format    Format
	Key       string // digest of the audio's inputs, by which later requests find the sample
	Blob      string // name of the audio in Blobs
	Bytes     int64  // size of the audio file
	Duration  time.Duration
	Latency   time.Duration // time from the request until the sample was stored
	CreatedAt time.Time
}

// Samples stores samples. speechtest.RunSamples tests an adapter. All methods participate in the transaction of ctx, and see its earlier
// changes. Every field is returned as it was stored, Duration and Latency to the nanosecond; times are returned in UTC, exact to the
// microsecond.
type Samples interface {
	// InsertSample adds a sample of s.Org. It returns CodeConflict if a sample of any organization has the same id.
	InsertSample(ctx context.Context, s Sample) error
	// Sample returns a sample of an organization, or CodeNotFound if the organization has no sample with this id.
	Sample(ctx context.Context, org callwright.OrgID, id string) (Sample, error)
	// SampleByKey returns the newest sample of an organization with this Key that was not created before the time since. It returns
	// CodeNotFound if there is none.
	SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (Sample, error)
	// ListSamples returns up to limit samples of an organization, starting at offset. The newest is first; samples of the same time are
	// ordered by descending id. A non-empty voice selects the samples with exactly this Voice. total is the number of selected samples
	// regardless of limit and offset. It is exact, also after concurrent calls; the time to compute it must not grow with the number of
	// samples. An offset beyond the last sample returns an empty list and the total.
	ListSamples(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) (list []Sample, total int, err error)
	// DeleteSample deletes a sample permanently. It returns CodeNotFound if the organization has no sample with this id. Of concurrent
	// calls, exactly one deletes the sample.
	DeleteSample(ctx context.Context, org callwright.OrgID, id string) error
	// DeleteSamples deletes up to limit of the oldest samples of all organizations that were created before a time. It returns the deleted
	// samples, the oldest first; samples of the same time are ordered by ascending id. Concurrent calls delete different samples, and may
	// delete fewer than limit.
	DeleteSamples(ctx context.Context, before time.Time, limit int) ([]Sample, error)
	// BlobUsed reports whether any sample of an organization has this Blob.
	BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (bool, error)
}

// Blobs stores audio. speechtest.RunBlobs tests an adapter. If several nodes run, all of them must reach the same storage. Methods and
// readers may be called concurrently. Methods return soon after ctx ends.
type Blobs interface {
	// StoreBlob stores audio of an organization under a new name, byte for byte; it does not validate that the content is audio. size is
	// the exact number of bytes, which may be 0; if r has fewer or more bytes, StoreBlob returns an error. Names and organizations consist
	// of 1 to 128 letters, digits, _ and -. Other names are refused or stored literally: they never address a blob of another name or
	// organization. When StoreBlob returns nil, the audio survives a crash.
	//
	// If r fails, if the storage fails, or if ctx ends, StoreBlob stores nothing, and the name remains new: OpenBlob never finds a part,
	// not even while r is read. An error of r can be found in the result with errors.Is. When ctx ends, StoreBlob stops reading r, which
	// may be endless, and returns an error. If the disk is full, StoreBlob returns CodeUnavailable.
	StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error
	// OpenBlob opens audio. It returns CodeNotFound for an unknown name, and for a name that StoreBlob refuses. Each reader has its own
	// position and seeks like an *os.File: an offset before the beginning is an error. If the audio is truncated, OpenBlob or a read
	// returns an error, which is not CodeNotFound.
	OpenBlob(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error)
	// DeleteBlob deletes audio. It returns nil for absent audio, and for a name that StoreBlob refuses. An open reader continues to the end
	// of the audio, or fails; it never returns io.EOF early.
	DeleteBlob(ctx context.Context, org callwright.OrgID, name string) error
}
