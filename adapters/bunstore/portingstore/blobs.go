package portingstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting/document"
)

// chunkSize is the size in bytes of the chunks in which a blob is stored, each sealed separately. The last chunk may be shorter.
const chunkSize = 64 << 10

// unfinished is the prefix of the ids of blobs. StaleBlobs and DeleteBlob use the id as the key of a blob that has no hash, because its
// upload is still running or was interrupted.
const unfinished = "upload-"

// Blobs stores documents in the database; it implements document.Blobs. It writes chunks as they arrive, each in a separate transaction.
// After the last chunk, a short transaction sets the hash of the blob, by which it can then be found. A blob without a hash is garbage,
// even after a crash, and StaleBlobs lists it.
type Blobs struct{ DB *bunstore.DB }

var _ document.Blobs = Blobs{}

func (s Blobs) core() core { return core{s.DB.Core()} }

type blobRow struct {
	bun.BaseModel `bun:"table:port_blobs,alias:blob"`

	ID     string    `bun:"id,pk"`
	SHA256 string    `bun:"sha256,nullzero"`
	Size   int64     `bun:"size"`
	Chunks int64     `bun:"chunks"`
	At     time.Time `bun:"at"`
}

type chunkRow struct {
	bun.BaseModel `bun:"table:port_blob_chunks"`

	Blob   string `bun:"blob_id,pk"`
	Number int64  `bun:"number,pk"`
	Bytes  string `bun:"bytes"` // sealed chunk
}

func chunkPurpose(blob string, number int64) string {
	return fmt.Sprintf("port document:%q:%d", blob, number)
}

// StoreBlob stores the bytes of r and returns their hash and size. If the same bytes are already stored, it deletes the new copy and
// updates the time of the stored one.
func (s Blobs) StoreBlob(ctx context.Context, r io.Reader, at time.Time) (document.Blob, error) {
	row := &blobRow{ID: unfinished + new(callwright.UUIDs).New(), At: sqldb.Stored(at)}
	if err := s.core().Insert(ctx, row.ID, row); err != nil {
		return document.Blob{}, err
	}
	kept := false
	err := s.fill(ctx, row, r)
	if err == nil {
		kept, err = s.publish(ctx, row)
	}
	if !kept {
		s.deleteChunks(ctx, row.ID)
	}
	if err != nil {
		return document.Blob{}, err
	}
	return document.Blob{SHA256: row.SHA256, Size: row.Size}, nil
}

// fill stores the bytes of r as chunks, and sets the number of chunks, the size and the hash in row.
func (s Blobs) fill(ctx context.Context, row *blobRow, r io.Reader) error {
	hash, buffer := sha256.New(), make([]byte, chunkSize)
	for {
		n, err := fillBuffer(r, buffer)
		if n > 0 {
			hash.Write(buffer[:n])
			if err := s.storeChunk(ctx, row, buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			row.SHA256 = hex.EncodeToString(hash.Sum(nil))
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fillBuffer reads until the buffer is full. Unlike io.ReadFull, it returns an error of r unchanged. The end of r is then io.EOF, and
// cannot be confused with an io.ErrUnexpectedEOF of r.
func fillBuffer(r io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = r.Read(buffer[n:])
		n += more
	}
	return n, err
}

// storeChunk stores the next chunk of a blob. It returns CodeNotFound if the blob was deleted because its upload took too long.
func (s Blobs) storeChunk(ctx context.Context, row *blobRow, chunk []byte) error {
	sealed := s.core().Keyring.Seal(chunkPurpose(row.ID, row.Chunks), callwright.Secret(chunk))
	err := s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewInsert().Model(&chunkRow{row.BaseModel, row.ID, row.Chunks, sealed}).Returning("NULL").Exec(ctx)
		return err
	})
	row.Chunks++
	row.Size += int64(len(chunk))
	return err
}

// publish sets the hash of a blob and returns true. If another blob with this hash exists, publish returns false, and sets the time of the
// other blob to row.At unless its stored time is later. It retries if the same bytes are published concurrently. It returns CodeUnavailable
// if the blob was deleted because the upload took too long.
func (s Blobs) publish(ctx context.Context, row *blobRow) (published bool, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		return s.DB.Do(ctx, func(ctx context.Context) error {
			published = false
			return s.core().Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
				touch := idb.NewUpdate().Model((*blobRow)(nil)).Set("at = CASE WHEN at < ?0 THEN ?0 ELSE at END", row.At).
					Where("sha256 = ?", row.SHA256)
				result, err := touch.Exec(ctx)
				if err := sqldb.Changed(result, err, errNoSuchBlob); !errors.Is(err, errNoSuchBlob) {
					return err
				}
				result, err = idb.NewUpdate().Model(row).WherePK().Exec(ctx)
				published = true
				return sqldb.Changed(result, err, callwright.Errorf(callwright.CodeUnavailable, "the upload took too long and was discarded: upload the document again"))
			})
		})
	})
	return published && err == nil, err
}

var errNoSuchBlob = errors.New("no such blob")

// deleteChunks deletes a blob that was not published, even if ctx is canceled. If the deletion fails, StaleBlobs lists the blob later.
func (s Blobs) deleteChunks(ctx context.Context, id string) {
	err := s.core().Write(context.WithoutCancel(ctx), nil, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*blobRow)(nil)).Where("id = ?", id).Where("sha256 IS NULL").Exec(ctx)
		return err
	})
	if err != nil {
		s.core().Logger.WarnContext(ctx, "an upload that was not kept is deleted later", "error", err)
	}
}

// StaleBlobs returns the keys of up to limit blobs whose time is before the given time: the hash of a stored blob, and the id of an
// unfinished upload.
func (s Blobs) StaleBlobs(ctx context.Context, before time.Time, limit int) (keys []string, err error) {
	err = s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		keys = nil
		return idb.NewSelect().Model((*blobRow)(nil)).ColumnExpr("COALESCE(sha256, id)").Where("at < ?", sqldb.Stored(before)).
			Order("at", "id").Limit(int64(limit)).Scan(ctx, &keys)
	})
	return keys, err
}

// TouchBlobs sets the times of the blobs with the given hashes to the given time. It leaves later times unchanged.
func (s Blobs) TouchBlobs(ctx context.Context, keys []string, at time.Time) error {
	if len(keys) == 0 {
		return nil
	}
	return s.core().Write(ctx, []any{keys}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewUpdate().Model((*blobRow)(nil)).Set("at = ?", sqldb.Stored(at)).Where("sha256 IN (?)", bun.List(keys)).
			Where("at < ?", sqldb.Stored(at)).Exec(ctx)
		return err
	})
}

// DeleteBlob deletes a blob, by its hash or by the id of its unfinished upload, if its time is before the given time.
func (s Blobs) DeleteBlob(ctx context.Context, key string, before time.Time) error {
	return s.core().Write(ctx, []any{key}, func(ctx context.Context, idb bun.IDB) error {
		q := idb.NewDelete().Model((*blobRow)(nil)).Where("at < ?", sqldb.Stored(before))
		if strings.HasPrefix(key, unfinished) {
			q = q.Where("id = ?", key).Where("sha256 IS NULL")
		} else {
			q = q.Where("sha256 = ?", key)
		}
		_, err := q.Exec(ctx)
		return err
	})
}
