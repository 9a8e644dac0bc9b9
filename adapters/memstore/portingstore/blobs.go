package portingstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/porting/document"
)

// blobs holds the bytes of documents by their SHA-256 hash in hexadecimal. Stored bytes never change.
type blobs struct {
	*memory.Tables
	byHash *memory.Table[string, blob]
}

type blob struct {
	bytes []byte
	at    time.Time // of the last StoreBlob or TouchBlobs
}

// New returns an empty table of blobs.
func (blobs) New() blobs {
	t := &memory.Tables{}
	return blobs{t, memory.NewTable[string, blob](t)}
}

// touch sets the time of a blob to the given time, if the blob is stored and its time is earlier. It reports whether the blob is stored.
func (b blobs) touch(hash string, at time.Time) (known bool) {
	row, known := b.byHash.Rows()[hash]
	if known && row.at.Before(at) {
		row.at = at
		b.byHash.Set(hash, row)
	}
	return known
}

// Blobs implements document.Blobs in memory. A StoreBlob that fails stores nothing.
type Blobs struct{ Store *memstore.Store }

var _ document.Blobs = Blobs{}

// with passes the blobs to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a failed
// transaction undoes changes.
func (s Blobs) with(ctx context.Context, f func(b *blobs) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// StoreBlob reads r to its end and stores the bytes under their hash. If the same bytes are already stored, it only updates their time. It
// returns CodeUnavailable if ctx is canceled.
func (s Blobs) StoreBlob(ctx context.Context, r io.Reader, at time.Time) (document.Blob, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return document.Blob{}, err
	}
	if err := ctx.Err(); err != nil {
		return document.Blob{}, callwright.ErrUnavailable.Because(err)
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	err = s.with(ctx, func(b *blobs) error {
		if !b.touch(hash, at) {
			b.byHash.Set(hash, blob{content, at})
		}
		return nil
	})
	return document.Blob{SHA256: hash, Size: int64(len(content))}, err
}

// OpenBlob returns a reader of the bytes with the given hash, or CodeNotFound if no such bytes are stored.
func (s Blobs) OpenBlob(ctx context.Context, hash string) (r io.ReadCloser, err error) {
	err = s.with(ctx, func(b *blobs) error {
		row, known := b.byHash.Rows()[hash]
		if !known {
			return callwright.NotFound("document")
		}
		r = io.NopCloser(bytes.NewReader(row.bytes))
		return nil
	})
	return r, err
}

// StaleBlobs returns the hashes of up to limit blobs whose time is before the given time, oldest first.
func (s Blobs) StaleBlobs(ctx context.Context, before time.Time, limit int) (keys []string, err error) {
	err = s.with(ctx, func(b *blobs) error {
		rows := b.byHash.Rows()
		for hash, row := range rows {
			if row.at.Before(before) {
				keys = append(keys, hash)
			}
		}
		slices.SortFunc(keys, func(x, y string) int { return cmp.Or(rows[x].at.Compare(rows[y].at), cmp.Compare(x, y)) })
		keys = keys[:min(limit, len(keys))]
		return nil
	})
	return keys, err
}

// TouchBlobs sets the times of the blobs with the given hashes to the given time. It leaves later times unchanged, and skips unknown
// hashes.
func (s Blobs) TouchBlobs(ctx context.Context, keys []string, at time.Time) error {
	return s.with(ctx, func(b *blobs) error {
		for _, key := range keys {
			b.touch(key, at)
		}
		return nil
	})
}

// DeleteBlob deletes a blob if its time is before the given time. Otherwise it does nothing and returns nil.
func (s Blobs) DeleteBlob(ctx context.Context, key string, before time.Time) error {
	return s.with(ctx, func(b *blobs) error {
		if row, known := b.byHash.Rows()[key]; known && row.at.Before(before) {
			b.byHash.Delete(key)
		}
		return nil
	})
}
