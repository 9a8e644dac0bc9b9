// Package document keeps the documents of port requests: bills that prove who owns a number.
//
// Documents are taken as they come and never opened: their first bytes tell their type, and files of other types are refused. The bytes
// are kept under their hash, once, whoever has uploaded them; each organization has its own records and sees no others. A file may be
// valid in two formats at once, so a transport serves documents as attachments only, never inline.
//
// A document that no port request uses is deleted 30 days after its upload. Bytes that no document has, also those of uploads that have
// failed halfway, are deleted a day after they were last found in use.
package document

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Document is an uploaded file.
type Document struct {
	ID        string // such as doc_0197f2a4c0007a1c8d2e5f3a1c9b7d20
	Org       callwright.OrgID
	Type      string   // media type, by its bytes
	Size      int64    // in bytes
	SHA256    string   // in lower-case hex
	Locked    bool     // a PDF that needs a password: carriers may refuse it
	Active    bool     // a PDF with scripts or launch actions: open it with care
	Requests  []string // ids of port requests that use it, each once, in ascending order, the first MaxListed of them; nil: none
	CreatedAt time.Time
}

// Store stores records of documents. documenttest.RunStore tests one. Returned values share no memory with stored ones; times are in UTC
// with microseconds. Another organization's document is absent.
type Store interface {
	// InsertDocument adds a document that no request uses. CodeConflict: its id is taken, by any organization. CodeTooManyRequests:
	// the organization has most documents that no request uses; concurrent calls never exceed that. A call that fails adds nothing.
	InsertDocument(ctx context.Context, d Document, most int) error
	// CountUnused returns how many documents of an organization no request uses.
	CountUnused(ctx context.Context, org callwright.OrgID) (int, error)
	// Document returns a document. CodeNotFound: it is absent.
	Document(ctx context.Context, org callwright.OrgID, id string) (Document, error)
	// UseDocuments adds a request to those that use documents, and returns the ids that are absent, each once and in the order of ids.
	// It takes part in the transaction of ctx. Using again, and the same id twice, change nothing. A document that DeleteUnused deletes
	// at the same time is either absent here, or stays.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
	// DeleteUnused deletes documents of all organizations whose CreatedAt is before a time and that no request uses, at most limit, and
	// returns how many.
	DeleteUnused(ctx context.Context, before time.Time, limit int) (deleted int, err error)
	// HashesInUse returns the given hashes that documents of any organization have, each once, in any order. Texts that are no hashes are
	// not in use.
	HashesInUse(ctx context.Context, hashes []string) ([]string, error)
}

// Blobs keeps bytes by their SHA-256. documenttest.RunBlobs tests one. Bytes are encrypted at rest. It keeps a time with them: when
// they were last put or touched.
type Blobs interface {
	// PutBlob reads r to its end and keeps its bytes, which may be none; bytes that are there already are kept once, with the later time.
	// The bytes are safe from a crash when it returns. An error of r is returned as it is, and nothing is kept then. It
	// returns an error and keeps nothing, too, if ctx ends before the bytes are kept. Concurrent calls with the same bytes all succeed. If
	// the same bytes are put and deleted at the same time, they are there in the end, with the time of PutBlob. It is not called in a
	// transaction.
	PutBlob(ctx context.Context, r io.Reader, at time.Time) (Blob, error)
	// OpenBlob returns bytes, which are read while ctx lives. A reader of damaged bytes fails before its end. CodeNotFound: they are absent,
	// or sha256 is no hash.
	OpenBlob(ctx context.Context, sha256 string) (io.ReadCloser, error)
	// StaleBlobs returns hashes of bytes whose time is before another, the oldest first, at most limit. Beside hashes it returns keys of
	// its own, which are no hashes, for what a PutBlob that was interrupted has left.
	StaleBlobs(ctx context.Context, before time.Time, limit int) (keys []string, err error)
	// TouchBlobs sets the time of bytes that have an earlier one. Absent bytes, and keys that are no hashes, are no error.
	TouchBlobs(ctx context.Context, keys []string, at time.Time) error
	// DeleteBlob deletes bytes whose time is before another; all others stay. Absent bytes, and keys that are no hashes, are no error.
	DeleteBlob(ctx context.Context, key string, before time.Time) error
}

// Blob says what was kept.
type Blob struct {
	SHA256 string // in lower-case hex
	Size   int64  // in bytes
}
