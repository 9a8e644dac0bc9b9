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

// blobs holds bytes by their hash. They are never changed.
type blobs struct {
	*memory.Tables
	byHash *memory.Table[string, blob]
}

type blob struct {
	bytes []byte
	at    time.Time // of the last put or touch
}

// New returns no bytes.
func (blobs) New() blobs {
	t := &memory.Tables{}
	return blobs{t, memory.NewTable[string, blob](t)}
}

// touch sets the time of bytes that are there and have an earlier one.
func (b blobs) touch(hash string, at time.Time) (known bool) {
	row, known := b.byHash.Rows()[hash]
	if known && row.at.Before(at) {
		row.at = at
		b.byHash.Set(hash, row)
	}
	return known
}

// Blobs is a document.Blobs. All bytes are in memory. A StoreBlob that fails leaves none.
type Blobs struct{ Store *memstore.Store }

var _ document.Blobs = Blobs{}

// with calls f with the bytes, in the transaction of ctx or alone. f must not fail after its first change.
func (s Blobs) with(ctx context.Context, f func(b *blobs) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// StoreBlob stores the bytes of r.
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

// OpenBlob returns bytes.
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

// StaleBlobs returns hashes of bytes whose time is before another, the oldest first.
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

// TouchBlobs sets the time of bytes.
func (s Blobs) TouchBlobs(ctx context.Context, keys []string, at time.Time) error {
	return s.with(ctx, func(b *blobs) error {
		for _, key := range keys {
			b.touch(key, at)
		}
		return nil
	})
}

// DeleteBlob deletes bytes whose time is before another.
func (s Blobs) DeleteBlob(ctx context.Context, key string, before time.Time) error {
	return s.with(ctx, func(b *blobs) error {
		if row, known := b.byHash.Rows()[key]; known && row.at.Before(before) {
			b.byHash.Delete(key)
		}
		return nil
	})
}
