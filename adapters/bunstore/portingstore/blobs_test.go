package portingstore_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/porting/document"
)

var uploadedAt = time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC)

// useDocuments calls all methods that query documents or blobs, and returns their errors.
func useDocuments(ctx context.Context, db *bunstore.DB, now time.Time) (errs []error) {
	store, blobs := portingstore.Documents{DB: db}, portingstore.Blobs{DB: db}
	blob, err := blobs.StoreBlob(ctx, strings.NewReader("a bill"), now)
	note := func(err error) { errs = append(errs, err) }
	note(err)
	note(store.InsertDocument(ctx, document.Document{ID: "d1", Org: "a", SHA256: blob.SHA256, CreatedAt: now}, 10))
	_, err = store.UseDocuments(ctx, "a", "r1", []string{"d1", "d2"})
	note(err)
	_, err = store.Document(ctx, "a", "d1")
	note(err)
	_, err = store.DeleteUnused(ctx, now, 10)
	note(err)
	_, err = store.HashesInUse(ctx, []string{blob.SHA256})
	note(err)
	r, err := blobs.OpenBlob(ctx, blob.SHA256)
	note(err)
	if err == nil {
		_, err = io.ReadAll(r)
		note(err)
	}
	_, err = blobs.StaleBlobs(ctx, now, 10)
	note(err)
	note(blobs.TouchBlobs(ctx, []string{blob.SHA256}, now))
	note(blobs.DeleteBlob(ctx, "upload-1", now))
	note(blobs.DeleteBlob(ctx, blob.SHA256, now.Add(time.Second)))
	return errs
}

func TestDocumentsUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, useDocuments)
}

// TestDamagedBytesAreNotRead checks that reading a blob returns CodeInternal if its chunks were damaged, swapped or lost, or if its hash
// was changed.
func TestDamagedBytesAreNotRead(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for name, damage := range map[string]string{
			"a chunk is another's": `UPDATE port_blob_chunks SET bytes = (SELECT bytes FROM port_blob_chunks WHERE number = 0) WHERE number = 1`,
			"chunks change places": `UPDATE port_blob_chunks SET number = -number`,
			"a chunk is lost":      `DELETE FROM port_blob_chunks WHERE number = 1`,
			"the last is lost":     `UPDATE port_blobs SET chunks = 2`,
			"the hash is another":  `UPDATE port_blobs SET sha256 = 'x' || substr(sha256, 2)`,
		} {
			db := open(t)
			blobs := portingstore.Blobs{DB: db}
			if _, err := blobs.StoreBlob(t.Context(), strings.NewReader(strings.Repeat("a bill ", 20_000)), uploadedAt); err != nil {
				t.Fatal(err)
			}
			if _, err := db.SQL().ExecContext(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			keys, err := blobs.StaleBlobs(t.Context(), uploadedAt.Add(time.Second), 2)
			if err != nil || len(keys) != 1 {
				t.Fatalf("%s: %v, %v", name, keys, err)
			}
			r, err := blobs.OpenBlob(t.Context(), keys[0])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n, err := io.Copy(io.Discard, r); callwright.CodeOf(err) != callwright.CodeInternal {
				t.Errorf("%s: %d bytes are read, %v", name, n, err)
			}
		}
	})
}

// TestUploadsOfDeadNodesAreDeleted checks that the unfinished upload of a node that died can be found and deleted, with its chunks.
func TestUploadsOfDeadNodesAreDeleted(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		blobs := portingstore.Blobs{DB: db}
		if _, err := blobs.StoreBlob(t.Context(), strings.NewReader("a bill"), uploadedAt); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			"INSERT INTO port_blobs (id, size, chunks, at) SELECT 'upload-1', 0, 0, at FROM port_blobs",
			"INSERT INTO port_blob_chunks (blob_id, number, bytes) SELECT 'upload-1', number, bytes FROM port_blob_chunks",
		} {
			if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		keys, err := blobs.StaleBlobs(t.Context(), uploadedAt.Add(time.Second), 10)
		if err != nil || len(keys) != 2 || !slices.Contains(keys, "upload-1") {
			t.Fatalf("stale are %v, %v", keys, err)
		}
		for _, key := range keys {
			if err := blobs.DeleteBlob(t.Context(), key, uploadedAt.Add(time.Second)); err != nil {
				t.Error(err)
			}
		}
		for _, table := range []string{"port_blobs", "port_blob_chunks"} {
			var rows int
			if err := db.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&rows); err != nil || rows != 0 {
				t.Errorf("%s has %d rows, %v", table, rows, err)
			}
		}
	})
}

// TestSlowUploadEndsWithItsBlob deletes the blob of a running upload, as happens if the upload takes too long: the upload fails and leaves
// nothing behind.
func TestSlowUploadEndsWithItsBlob(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for name, rest := range map[string]string{"more bytes": strings.Repeat("a bill ", 20_000), "its end": ""} {
			blobs := portingstore.Blobs{DB: open(t)}
			sweep := readerFunc(func([]byte) (int, error) {
				keys, err := blobs.StaleBlobs(t.Context(), uploadedAt.Add(time.Second), 10)
				if err == nil && len(keys) != 1 {
					err = fmt.Errorf("stale are %v", keys)
				}
				for _, key := range keys {
					err = blobs.DeleteBlob(t.Context(), key, uploadedAt.Add(time.Second))
				}
				if err != nil {
					t.Error(err)
				}
				return 0, io.EOF
			})
			r := io.MultiReader(bytes.NewReader(make([]byte, 100_000)), sweep, strings.NewReader(rest))
			if blob, err := blobs.StoreBlob(t.Context(), r, uploadedAt); err == nil {
				t.Errorf("%s: after its blob was deleted, an upload gave %+v", name, blob)
			}
			if keys, err := blobs.StaleBlobs(t.Context(), uploadedAt.Add(time.Second), 10); err != nil || len(keys) > 0 {
				t.Errorf("%s: %v are left, %v", name, keys, err)
			}
		}
	})
}

// readerFunc adapts a function to io.Reader.
type readerFunc func(p []byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
