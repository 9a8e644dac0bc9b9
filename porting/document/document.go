// Package document keeps the documents of port requests: bills that prove who owns a number.
//
// Documents are taken as they come and never opened: their bytes tell their type, and no other type is taken. The bytes are kept
// under their hash, once, whoever has uploaded them; each organization has its own records and sees no others.
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
	Type      string // media type, by its bytes
	Size      int64  // in bytes
	SHA256    string // in lower-case hex
	Locked    bool   // a PDF that needs a password: carriers may refuse it
	Active    bool   // a PDF with scripts or launch actions: open it with care
	Requests  []string
	CreatedAt time.Time
}

// Store stores records of documents. documenttest.RunStore tests one. Another organization's document is absent.
type Store interface {
	// InsertDocument adds a document that no request uses. CodeConflict: its id is taken, by any organization. CodeTooManyRequests:
	// the organization has most documents that no request uses.
	InsertDocument(ctx context.Context, d Document, most int) error
	// Document returns a document. CodeNotFound: it is absent.
	Document(ctx context.Context, org callwright.OrgID, id string) (Document, error)
	// UseDocuments adds a request to those that use documents, and returns the ids that are absent. Using again changes nothing.
	UseDocuments(ctx context.Context, org callwright.OrgID, request string, ids []string) (absent []string, err error)
	// DeleteUnused deletes documents of all organizations that were made before a time and that no request uses, at most limit, and
	// returns the hashes of those bytes that no document has any more.
	DeleteUnused(ctx context.Context, before time.Time, limit int) (hashes []string, err error)
}

// Blobs keeps bytes by their SHA-256. documenttest.RunBlobs tests one. Bytes are encrypted at rest.
type Blobs interface {
	// PutBlob reads r to its end and keeps its bytes; those that are there already are kept once. The bytes are safe from a crash when it
	// returns. An error of r is returned as it is, and then nothing is kept. It is not called in a transaction.
	PutBlob(ctx context.Context, r io.Reader) (Blob, error)
	// OpenBlob returns bytes. CodeNotFound: they are absent.
	OpenBlob(ctx context.Context, sha256 string) (io.ReadCloser, error)
	// DeleteBlob deletes bytes that were last put before a time; younger ones stay. Absent ones are no error.
	DeleteBlob(ctx context.Context, sha256 string, before time.Time) error
}

// Blob says what was kept.
type Blob struct {
	SHA256 string // in lower-case hex
	Size   int64  // in bytes
}
