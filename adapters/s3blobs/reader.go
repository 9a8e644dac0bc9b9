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

// blob reads an object from S3. After a seek, or when a connection breaks, Read requests the rest of the object from the current offset.
// Every response must be of the object that was opened: see etag.
type blob struct {
	ctx   context.Context //nolint:containedctx // of OpenBlob: an io.Reader takes none
	blobs *Blobs
	key   string
	etag  *string // nil until the first response
	size  int64

	at     int64         // the offset of the next Read
	body   io.ReadCloser // its next byte is at the offset b.from; nil without a response
	cancel func()        // cancels the request of body
	from   int64
	given  bool // body has yielded bytes
	empty  int  // consecutive responses that broke before their first byte
	closed bool
}

var errClosed = errors.New("audio: the reader is closed")

// Read reads the next bytes. If the connection breaks, it requests the rest of the object, and returns an error after three consecutive
// responses without a byte.
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
			return n, nil // the next Read returns the error again
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

// open requests the rest of the object, unless the body already begins at the current offset. It returns an error if the response has
// another range or size.
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
		return errNoS3.Because(fmt.Errorf("the server sent the range %q, not %q", aws.ToString(object.ContentRange), want))
	}
	b.from = b.at
	return nil
}

// get requests the object or a range of it, and sets body and cancel.
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

// discard cancels the request and closes its body without reading the rest.
func (b *blob) discard() {
	if b.body != nil {
		b.cancel()
		_ = b.body.Close()
		b.body, b.cancel, b.given = nil, nil, false
	}
}

// Seek sets the offset of the next Read, and sends no request.
func (b *blob) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.size
	default:
		return 0, fmt.Errorf("audio: invalid whence %d", whence)
	}
	if offset < 0 {
		return 0, errors.New("audio: negative position")
	}
	b.at = offset
	return offset, nil
}

// Close cancels the current request. Further reads fail. The returned error is always nil.
func (b *blob) Close() error {
	b.closed = true
	b.discard()
	return nil
}
