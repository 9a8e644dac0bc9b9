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

// chunkSize is the size of the pieces in which bytes are stored, each sealed by itself. The last one of a blob may be shorter.
const chunkSize = 64 << 10

// unfinished begins the ids of blobs. While an upload runs, its blob has no hash and goes by its id.
const unfinished = "upload-"

// Blobs is a document.Blobs. Bytes are in the database, in chunks that are written as they come, each in a separate transaction.
// When all are there, a short transaction gives the blob its hash, by which it can be found from then on. Until then it is garbage
// that StaleBlobs lists, even after a crash.
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
	Bytes  string `bun:"bytes"` // sealed
}

func chunkPurpose(blob string, number int64) string {
	return fmt.Sprintf("port document:%q:%d", blob, number)
}

// StoreBlob stores the bytes of r.
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

// fill stores the bytes of r as chunks, and their description in row.
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

// fillBuffer reads until the buffer is full. Unlike io.ReadFull it returns an error of r as it is, so that the end of r, io.EOF, is not
// taken for an io.ErrUnexpectedEOF of its own.
func fillBuffer(r io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = r.Read(buffer[n:])
		n += more
	}
	return n, err
}

// storeChunk stores the next chunk of a blob. CodeNotFound: the blob was deleted, because its upload took too long.
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

// publish gives a blob its hash and reports true, or sets the later time on the existing blob with this hash and reports false.
// Concurrent publishing of the same bytes is a conflict; it waits for concurrent deletion.
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
				return sqldb.Changed(result, err, callwright.Errorf(callwright.CodeUnavailable, "the upload took too long"))
			})
		})
	})
	return published && err == nil, err
}

var errNoSuchBlob = errors.New("no such blob")

// deleteChunks deletes a blob that was not published, also after ctx has ended. One that it cannot delete is left for StaleBlobs.
func (s Blobs) deleteChunks(ctx context.Context, id string) {
	err := s.core().Write(context.WithoutCancel(ctx), nil, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewDelete().Model((*blobRow)(nil)).Where("id = ?", id).Where("sha256 IS NULL").Exec(ctx)
		return err
	})
	if err != nil {
		s.core().Logger.WarnContext(ctx, "an upload that was not kept is deleted later", "error", err)
	}
}

// StaleBlobs returns hashes of bytes, and ids of uploads that have not ended, whose time is before another.
func (s Blobs) StaleBlobs(ctx context.Context, before time.Time, limit int) (keys []string, err error) {
	err = s.core().Read(ctx, nil, func(ctx context.Context, idb bun.IDB) error {
		keys = nil
		return idb.NewSelect().Model((*blobRow)(nil)).ColumnExpr("COALESCE(sha256, id)").Where("at < ?", sqldb.Stored(before)).
			Order("at", "id").Limit(int64(limit)).Scan(ctx, &keys)
	})
	return keys, err
}

// TouchBlobs sets the time of bytes that have an earlier one.
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

// DeleteBlob deletes bytes, or the rest of an upload, whose time is before another.
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
