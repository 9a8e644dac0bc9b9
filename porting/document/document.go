// Package document stores the documents of port requests: bills that prove the ownership of a number.
//
// Documents are stored unchanged. Their first bytes determine their type, and files of other types are refused. PDFs are searched for names
// that call for caution, but are not parsed. Equal bytes are stored once, under their hash, for all organizations; each organization sees
// only its own records. A file may be valid in two formats, so a transport must serve documents only as attachments, never inline.
//
// A document that no port request uses is deleted 30 days after its upload. Bytes without a document, including the bytes of incomplete
// uploads, are deleted a day after they were last stored or touched.
package document

import (
	"context"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Document is the record of an uploaded file.
type Document struct {
	ID        string // for example doc_0197f2a4c0007a1c8d2e5f3a1c9b7d20
	Org       callwright.OrgID
	Type      string   // media type, determined from the first bytes
	Size      int64    // in bytes
	SHA256    string   // in lower-case hex
	Locked    bool     // the PDF seems to be encrypted (see pdfScanner): carriers may refuse it
	Active    bool     // a PDF with scripts, launch actions or embedded files: open it with care
	Requests  []string // ids of port requests that use it, unique, ascending, at most MaxListed; nil if none
	CreatedAt time.Time
}

// Store stores records of documents. documenttest.RunStore tests it. Returned values share no memory with stored values; times are in UTC
// with microseconds. Methods treat another organization's document as absent.
type Store interface {
	// InsertDocument adds a document that no request uses. It returns CodeConflict if a document of any organization has the same id, and
	// CodeTooManyRequests if the organization's unused documents have already reached the maximum, most; concurrent calls never exceed this
	// limit. A call that fails adds nothing.
	InsertDocument(ctx context.Context, d Document, most int) error
	// CountUnused returns the number of an organization's documents that no request uses.
	CountUnused(ctx context.Context, org callwright.OrgID) (int, error)
	// Document returns a document. It returns CodeNotFound if the organization has no such document.
	Document(ctx context.Context, org callwright.OrgID, id string) (Document, error)
	// UseDocuments records that a request uses documents. It returns the absent ids without duplicates, in the order of ids. It takes part
	// in the transaction of ctx. A repeated call or id changes nothing. If DeleteUnused runs concurrently, each document is either absent
	// here or not deleted.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
	// DeleteUnused deletes at most limit documents of all organizations that no request uses and whose CreatedAt is before the given time.
	// It returns how many it deleted.
	DeleteUnused(ctx context.Context, before time.Time, limit int) (deleted int, err error)
	// HashesInUse returns the given hashes that documents of any organization refer to, without duplicates, in any order. It ignores texts
	// that are not hashes.
	HashesInUse(ctx context.Context, hashes []string) ([]string, error)
}

// Blobs stores bytes under their SHA-256, together with the time at which they were last stored or touched. Bytes are encrypted at rest.
// documenttest.RunBlobs tests it.
type Blobs interface {
	// StoreBlob reads r to its end and durably stores its bytes, which may be empty. If the bytes are already stored, it keeps one copy
	// with the later time. It returns an error of r unchanged, and stores nothing then. If ctx ends before the bytes are stored, it returns
	// an error and stores nothing.
	//
	// Concurrent calls with the same bytes all succeed. After concurrent calls of StoreBlob and DeleteBlob for the same bytes, the bytes
	// are stored, with the time of StoreBlob. StoreBlob is not called in a transaction.
	StoreBlob(ctx context.Context, r io.Reader, at time.Time) (Blob, error)
	// OpenBlob returns a reader of stored bytes that is valid until ctx ends. A reader of damaged bytes fails before its end. OpenBlob
	// returns CodeNotFound if the bytes are absent or sha256 is not a hash.
	OpenBlob(ctx context.Context, sha256 string) (io.ReadCloser, error)
	// StaleBlobs returns the hashes of at most limit blobs whose time is before the given time, oldest first. It also returns keys for the
	// leftovers of interrupted StoreBlob calls; these keys are not hashes.
	StaleBlobs(ctx context.Context, before time.Time, limit int) (keys []string, err error)
	// TouchBlobs sets the time of the given blobs to the parameter at, unless their time is later. It ignores absent blobs, and keys that
	// are not hashes.
	TouchBlobs(ctx context.Context, keys []string, at time.Time) error
	// DeleteBlob deletes a blob or leftover whose time is before the given time. It does nothing if the blob's time is not earlier, the
	// blob is absent, or the key is unknown.
	DeleteBlob(ctx context.Context, key string, before time.Time) error
}

// Blob is the hash and the size of stored bytes.
type Blob struct {
	SHA256 string // in lower-case hex
	Size   int64  // in bytes
}
