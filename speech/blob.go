package speech

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// blobPart is the number of bytes that ReadBlob reads between two checks of its context.
const blobPart = 64 << 10

// ReadBlob reads audio for a Blobs adapter that stores a blob in one write. It returns an error if r does not contain exactly size bytes,
// if reading fails, or if ctx ends.
func ReadBlob(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	var audio bytes.Buffer
	for int64(audio.Len()) <= size {
		_, err := io.CopyN(&audio, r, min(blobPart, size+1-int64(audio.Len())))
		if ended := ctx.Err(); ended != nil {
			return nil, ended
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if int64(audio.Len()) != size {
		return nil, fmt.Errorf("speech: the audio must have the announced %d bytes, not %d", size, audio.Len())
	}
	return audio.Bytes(), nil
}
