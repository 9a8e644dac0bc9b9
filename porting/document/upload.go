package document

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/callwright/callwright"
)

// Upload reads r to its end and stores its bytes as a new document of an organization. It streams the bytes instead of holding them in
// memory. The first bytes determine the type: PDF (with its mark at offset 0), JPEG, PNG, GIF, WebP, TIFF, HEIC or HEIF. PDFs that require
// a password, or that visibly contain scripts, launch actions or embedded files, are flagged but accepted.
//
// Upload returns CodeUnsupportedMedia for other types, CodeBadRequest if r is empty, and CodePayloadTooLarge if r has more than MaxSize
// bytes; these errors have the field "file". It returns CodeTooManyRequests if the organization has too many unused documents, and an error
// of r unchanged. After any error no document is stored.
func (s *Service) Upload(ctx context.Context, org callwright.OrgID, r io.Reader) (Document, error) {
	unused, err := s.cfg.Store.CountUnused(ctx, org)
	if err != nil {
		return Document{}, err
	}
	if unused >= s.cfg.MaxUnused {
		return Document{}, s.tooMany()
	}
	f, err := newFile(r)
	if err != nil {
		return Document{}, err
	}
	now := s.cfg.Clock.Now()
	blob, err := s.cfg.Blobs.StoreBlob(ctx, f, now)
	if err != nil {
		return Document{}, err
	}
	d := Document{
		ID: "doc_" + strings.ReplaceAll(s.cfg.IDs.New(), "-", ""), Org: org, Type: f.mediaType, Size: blob.Size, SHA256: blob.SHA256,
		Locked: f.pdf.locked, Active: f.pdf.active, CreatedAt: now,
	}
	err = s.cfg.Store.InsertDocument(ctx, d, s.cfg.MaxUnused)
	if errors.Is(err, callwright.ErrTooManyRequests) {
		err = s.tooMany()
	}
	if err != nil {
		return Document{}, err
	}
	return d, nil
}

// tooMany returns the error for an organization that has too many unused documents.
func (s *Service) tooMany() error {
	return callwright.Errorf(callwright.CodeTooManyRequests,
		"an organization can have at most %d documents that no port request uses: use some in a port request, or wait until they are deleted 30 days after their upload",
		s.cfg.MaxUnused)
}

var (
	errEmpty    = callwright.Invalid("file", "must not be empty")
	errTooLarge = callwright.InField("file",
		callwright.Errorf(callwright.CodePayloadTooLarge, "must have at most %d bytes", MaxSize))
	errUnsupported = callwright.InField("file",
		callwright.Errorf(callwright.CodeUnsupportedMedia, "must be a PDF, JPEG, PNG, GIF, WebP, TIFF or HEIC file"))
)

// file reads an upload, counts its bytes, and scans PDFs.
type file struct {
	r         io.Reader
	mediaType string
	size      int64
	pdf       pdfScanner
}

// newFile returns a file whose type it has determined from the first bytes of r. It returns errEmpty or errUnsupported if r is not
// acceptable, and an error of r unchanged.
func newFile(r io.Reader) (*file, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) == 0 {
		return nil, errEmpty
	}
	mediaType, ok := sniff(head)
	if !ok {
		return nil, errUnsupported
	}
	return &file{r: buffered, mediaType: mediaType}, nil
}

// Read reads the next bytes. It returns errTooLarge after more than MaxSize bytes.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if f.size += int64(n); f.size > MaxSize {
		return 0, errTooLarge
	}
	if f.mediaType == typePDF {
		f.pdf.scan(p[:n])
	}
	if errors.Is(err, io.EOF) {
		f.pdf.end()
	}
	return n, err
}
