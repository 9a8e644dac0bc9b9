package portingstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// OpenBlob returns a reader of the bytes with the given SHA-256 hash, or CodeNotFound if the bytes are absent. The reader loads them chunk
// by chunk with ctx.
func (s Blobs) OpenBlob(ctx context.Context, sha string) (io.ReadCloser, error) {
	row := new(blobRow)
	err := s.core().Read(ctx, []any{sha}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("document", idb.NewSelect().Model(row).Where("sha256 = ?", sha).Scan(ctx))
	})
	if err != nil {
		return nil, err
	}
	return &blobReader{
		read: func(number int64) (callwright.Secret, error) { return s.chunk(ctx, row.ID, number) },
		row:  row, hash: sha256.New(),
	}, nil
}

// chunk returns the decrypted bytes of a chunk, or CodeInternal if the chunk is missing or cannot be decrypted.
func (s Blobs) chunk(ctx context.Context, blob string, number int64) (callwright.Secret, error) {
	row := new(chunkRow)
	err := s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		return idb.NewSelect().Model(row).Column("bytes").Where("blob_id = ?", blob).Where("number = ?", sqldb.Int(number)).Scan(ctx)
	})
	if errors.Is(err, callwright.ErrNotFound) {
		return "", callwright.ErrInternal.Because(err) // the blob was deleted meanwhile, or the chunk is lost
	}
	if err != nil {
		return "", err
	}
	return s.core().Unseal(chunkPurpose(blob, number), row.Bytes)
}

// blobReader reads a blob chunk by chunk. It verifies the hash before it returns io.EOF.
type blobReader struct {
	read  func(number int64) (callwright.Secret, error) // returns a chunk
	row   *blobRow
	next  int64
	chunk strings.Reader // unread part of the current chunk
	hash  hash.Hash
	err   error
}

// Read reads bytes of the current chunk. If none are left, it loads the next chunk.
func (r *blobReader) Read(p []byte) (int, error) {
	for r.chunk.Len() == 0 && r.err == nil {
		r.err = r.load()
	}
	if r.chunk.Len() == 0 {
		return 0, r.err
	}
	n, _ := r.chunk.Read(p)
	return n, nil
}

// load loads the next chunk. After the last one, it verifies the hash and returns io.EOF.
func (r *blobReader) load() error {
	if r.next == r.row.Chunks {
		if sum := hex.EncodeToString(r.hash.Sum(nil)); sum != r.row.SHA256 {
			return callwright.ErrInternal.Because(fmt.Errorf("the stored bytes of a document have the SHA-256 %s, but %s was recorded", sum, r.row.SHA256))
		}
		return io.EOF
	}
	content, err := r.read(r.next)
	if err != nil {
		return err
	}
	r.next++
	_, _ = io.WriteString(r.hash, content.Reveal())
	r.chunk.Reset(content.Reveal())
	return nil
}

// Close frees the current chunk. Further reads fail.
func (r *blobReader) Close() error {
	r.chunk.Reset("")
	r.err = io.ErrClosedPipe
	return nil
}
