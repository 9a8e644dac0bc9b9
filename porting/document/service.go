package document

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Config configures a Service.
type Config struct {
	Store     Store           `required:"always"`
	Blobs     Blobs           `required:"always"`
	Work      callwright.Work `required:"always"` // runs the deletion of unused documents
	MaxUnused int             // maximum number of unused documents per organization; 0 means 100

	callwright.Runtime
}

// Limits of documents.
const (
	MaxSize    = 10 << 20            // maximum size of a document in bytes: 10,485,760
	MaxListed  = 100                 // maximum length of Document.Requests
	KeepUnused = 30 * 24 * time.Hour // lifetime of a document that no request uses
)

// Service manages documents. It implements porting.Documents.
type Service struct{ cfg Config }

// New returns a service, and registers its durable work with c.Work. It returns an error if a required field of c is missing.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.MaxUnused <= 0 {
		c.MaxUnused = 100
	}
	s := &Service{cfg: c}
	c.Work.Every(callwright.QueueUpkeep, taskSweep, sweepEvery, s.sweep)
	return s, nil
}

// UseDocuments marks documents as used by a request, which protects them from deletion. It returns the ids of documents that the
// organization does not have. It takes part in the transaction of ctx. A repeated call changes nothing.
func (s *Service) UseDocuments(
	ctx context.Context, org callwright.OrgID, request string, ids []string,
) (absent []string, err error) {
	return s.cfg.Store.UseDocuments(ctx, org, request, ids)
}

// Get returns a document. It returns CodeNotFound if the organization has no such document.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Document, error) {
	return s.cfg.Store.Document(ctx, org, id)
}

// Open returns a document and a reader of its bytes that is valid until ctx ends; the caller must close it. The reader fails before its end
// if the bytes are damaged. The bytes are untrusted: serve them as an attachment, never inline. Open returns CodeNotFound if the
// organization has no such document.
func (s *Service) Open(ctx context.Context, org callwright.OrgID, id string) (Document, io.ReadCloser, error) {
	d, err := s.cfg.Store.Document(ctx, org, id)
	if err != nil {
		return Document{}, nil, err
	}
	r, err := s.cfg.Blobs.OpenBlob(ctx, d.SHA256)
	if errors.Is(err, callwright.ErrNotFound) {
		err = callwright.ErrInternal.Because(err) // not CodeNotFound, because the record exists
	}
	if err != nil {
		return Document{}, nil, err
	}
	return d, r, nil
}
