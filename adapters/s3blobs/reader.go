package s3blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// blob is an object that is being read. Its bytes come from an answer that begins at the place, which Read asks for after a seek and
// after a connection has broken. Every answer must be of the object that was opened.
type blob struct {
	ctx   context.Context //nolint:containedctx // of OpenBlob: an io.Reader takes none
	blobs *Blobs
	key   string
	etag  *string // nil until it is known
	size  int64

	at     int64         // the place
	body   io.ReadCloser // begins at from; nil: none is open
	cancel func()        // ends the request of body
	from   int64
	given  bool // bytes have come from it
	empty  int  // answers in a row that have broken before a byte came
	closed bool
}

var errClosed = errors.New("audio: the reader is closed")

// Read reads the next bytes.
func (b *blob) Read(p []byte) (int, error) {
	switch {
	case b.closed:
		return 0, errClosed
	case b.at >= b.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	for {
		if err := b.open(); err != nil {
			return 0, err
		}
		stalled := time.AfterFunc(answerLimit, b.cancel)
		n, err := b.body.Read(p[:min(int64(len(p)), b.size-b.at)])
		stalled.Stop()
		b.at, b.from = b.at+int64(n), b.from+int64(n)
		if n > 0 {
			b.given, b.empty = true, 0
			return n, nil // an error comes again
		}
		if err == nil {
			continue
		}
		if !b.given {
			b.empty++
		}
		b.discard()
		if b.empty >= attempts || b.ctx.Err() != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("the object ends after %d of %d bytes: %w", b.at, b.size, io.ErrUnexpectedEOF)
			}
			return 0, translate(b.ctx, err)
		}
	}
}

// open makes sure that the body begins at the place.
func (b *blob) open() error {
	if b.body != nil && b.from == b.at {
		return nil
	}
	b.discard()
	object, err := b.get(aws.String(fmt.Sprintf("bytes=%d-", b.at)))
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("bytes %d-%d/%d", b.at, b.size-1, b.size); aws.ToString(object.ContentRange) != want {
		b.discard()
		return errNoS3.Because(fmt.Errorf("the range %q came, not %q", aws.ToString(object.ContentRange), want))
	}
	b.from = b.at
	return nil
}

// get asks for the object or a range of it. A read that gets no byte for as long as an answer may take ends the request.
func (b *blob) get(byteRange *string) (*s3.GetObjectOutput, error) {
	ctx, cancel := context.WithCancel(b.ctx)
	object, err := b.blobs.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &b.blobs.config.Bucket, Key: &b.key, IfMatch: b.etag, Range: byteRange,
	})
	if err != nil {
		cancel()
		return nil, translate(b.ctx, err)
	}
	b.body, b.cancel = object.Body, cancel
	return object, nil
}

// discard closes the body, whose rest is not fetched.
func (b *blob) discard() {
	if b.body != nil {
		b.cancel()
		_ = b.body.Close()
		b.body, b.cancel, b.given = nil, nil, false
	}
}

// Seek sets the place, and fetches nothing.
func (b *blob) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.size
	default:
		return 0, fmt.Errorf("audio: there is no whence %d", whence)
	}
	if offset < 0 {
		return 0, errors.New("audio: the place is before the beginning")
	}
	b.at = offset
	return offset, nil
}

// Close ends the connection, unless everything was read.
func (b *blob) Close() error {
	b.closed = true
	b.discard()
	return nil
}
