// Package document stores the documents of port requests: bills that prove the ownership of a number.
//
// Documents are stored unchanged and never opened. Their first bytes determine their type, and files of other types are refused.
// Equal bytes are stored once, under their hash, for all organizations; each organization sees only its own records. A file may be
// valid in two formats at once, so a transport serves documents as attachments only, never inline.
//
// A document that no port request uses is deleted 30 days after its upload. Bytes without a document, including those of incomplete
// uploads, are deleted a day after they were last in use.
package document

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Document is an uploaded file.
type Document struct {
	ID        string // for example doc_0197f2a4c0007a1c8d2e5f3a1c9b7d20
	Org       callwright.OrgID
	Type      string   // media type, by its bytes
	Size      int64    // in bytes
	SHA256    string   // in lower-case hex
	Locked    bool     // a PDF that needs a password: carriers may refuse it
	Active    bool     // a PDF with scripts or launch actions: open it with care
	Requests  []string // ids of port requests that use it, each once, ascending, at most MaxListed; nil: none
	CreatedAt time.Time
}

// Store stores records of documents. documenttest.RunStore tests it. Returned values share no memory with stored ones; times are in
// UTC with microseconds. Another organization's document is absent.
type Store interface {
	// InsertDocument adds a document that no request uses. CodeConflict: any organization's document has the same id.
	// CodeTooManyRequests: the organization has most unused documents; concurrent calls never exceed this limit. A call that fails
	// adds nothing.
	InsertDocument(ctx context.Context, d Document, most int) error
	// CountUnused returns the number of an organization's documents that no request uses.
	CountUnused(ctx context.Context, org callwright.OrgID) (int, error)
	// Document returns a document. CodeNotFound: it is absent.
	Document(ctx context.Context, org callwright.OrgID, id string) (Document, error)
	// UseDocuments records that a request uses documents, and returns the ids that are absent, each once and in the order of ids.
	// It takes part in the transaction of ctx. A repeated call, and a repeated id, change nothing. A document that DeleteUnused
	// deletes at the same time is either absent here, or stays.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
	// DeleteUnused deletes documents of all organizations whose CreatedAt is before a time and that no request uses, at most limit,
	// and returns their number.
	DeleteUnused(ctx context.Context, before time.Time, limit int) (deleted int, err error)
	// HashesInUse returns the given hashes that documents of any organization refer to, each once, in any order. It omits texts
	// that are not hashes.
	HashesInUse(ctx context.Context, hashes []string) ([]string, error)
}

// Blobs stores bytes by their SHA-256. documenttest.RunBlobs tests it. Bytes are encrypted at rest. With them it stores the time at
// which they were last put or touched.
type Blobs interface {
	// StoreBlob reads r to its end and stores its bytes, which may be none. Bytes that are already stored are stored once, with the
	// later time. They survive a crash once StoreBlob has returned. An error of r is returned unchanged, and nothing is stored. If
	// ctx ends before the bytes are stored, StoreBlob returns an error and stores nothing. Concurrent calls with the same bytes all
	// succeed. After concurrent calls of StoreBlob and DeleteBlob for the same bytes, the bytes are stored, with the time of StoreBlob.
	// StoreBlob is not called in a transaction.
	StoreBlob(ctx context.Context, r io.Reader, at time.Time) (Blob, error)
	// OpenBlob returns a reader of bytes, which is valid until ctx ends. A reader of damaged bytes fails before its end.
	// CodeNotFound: the bytes are absent, or sha256 is not a hash.
	OpenBlob(ctx context.Context, sha256 string) (io.ReadCloser, error)
	// StaleBlobs returns hashes of bytes whose time is before the given one, the oldest first, at most limit. It also returns keys,
	// which are not hashes, of leftovers of interrupted calls of StoreBlob.
	StaleBlobs(ctx context.Context, before time.Time, limit int) (keys []string, err error)
	// TouchBlobs sets the time of bytes with an earlier time. Absent bytes, and keys that are not hashes, are no error.
	TouchBlobs(ctx context.Context, keys []string, at time.Time) error
	// DeleteBlob deletes bytes whose time is before the given one; later bytes stay. Absent bytes, and keys that are not hashes,
	// are no error.
	DeleteBlob(ctx context.Context, key string, before time.Time) error
}

// Blob describes stored bytes.
type Blob struct {
	SHA256 string // in lower-case hex
	Size   int64  // in bytes
}
