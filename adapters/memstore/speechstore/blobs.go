package speechstore

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
)

// Blobs implements speech.Blobs in memory, outside of transactions. The zero Blobs is empty and ready to use.
type Blobs struct {
	mu     sync.Mutex
	byName map[blobName][]byte
}

type blobName struct {
	org  callwright.OrgID
	name string
}

var _ speech.Blobs = (*Blobs)(nil)

// StoreBlob reads size bytes of audio from r and stores them. It replaces audio with the same name.
func (b *Blobs) StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
	content, err := speech.ReadBlob(ctx, r, size)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byName == nil {
		b.byName = map[blobName][]byte{}
	}
	b.byName[blobName{org, name}] = content
	return nil
}

// OpenBlob returns a reader of the audio, or CodeNotFound if the organization has no audio with the name.
func (b *Blobs) OpenBlob(_ context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, known := b.byName[blobName{org, name}]
	if !known {
		return nil, callwright.NotFound("audio")
	}
	return opened{bytes.NewReader(content)}, nil
}

// opened adds a Close method to the reader of stored audio.
type opened struct{ *bytes.Reader }

// Close does nothing and returns nil.
func (opened) Close() error { return nil }

// DeleteBlob deletes audio. It returns no error if the audio is absent.
func (b *Blobs) DeleteBlob(_ context.Context, org callwright.OrgID, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byName, blobName{org, name})
	return nil
}
