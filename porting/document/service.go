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
	Work      callwright.Work `required:"always"` // deletes unused documents
	MaxUnused int             // documents of an organization that no request uses; 0: 100

	callwright.Runtime
}

// The limits of documents.
const (
	MaxSize    = 10 << 20            // bytes of a document: 10,485,760
	MaxListed  = 100                 // requests that a Document lists
	KeepUnused = 30 * 24 * time.Hour // a document that no request uses
)

// Service manages documents. It implements porting.Documents.
type Service struct{ cfg Config }

// New checks the configuration and registers durable work with c.Work.
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

// UseDocuments marks documents as used by a request, which protects them from deletion, and returns the ids that are not documents
// of the organization. It takes part in the transaction of ctx. A repeated call changes nothing.
func (s *Service) UseDocuments(
	ctx context.Context, org callwright.OrgID, request string, ids []string,
) (absent []string, err error) {
	return s.cfg.Store.UseDocuments(ctx, org, request, ids)
}

// Get returns a document. CodeNotFound: unknown id.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Document, error) {
	return s.cfg.Store.Document(ctx, org, id)
}

// Open returns a document and a reader of its bytes, which is valid until ctx ends; the caller closes it. The reader fails before
// its end if the bytes are damaged. The bytes are untrusted: serve them as an attachment, never inline. CodeNotFound: the
// organization has no document with this id.
func (s *Service) Open(ctx context.Context, org callwright.OrgID, id string) (Document, io.ReadCloser, error) {
	d, err := s.cfg.Store.Document(ctx, org, id)
	if err != nil {
		return Document{}, nil, err
	}
	r, err := s.cfg.Blobs.OpenBlob(ctx, d.SHA256)
	if errors.Is(err, callwright.ErrNotFound) {
		err = callwright.ErrInternal.Because(err) // the record exists
	}
	if err != nil {
		return Document{}, nil, err
	}
	return d, r, nil
}
