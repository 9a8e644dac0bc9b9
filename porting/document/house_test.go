package document_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting/document"
)

// house contains a document service, and is its callwright.Clock and its callwright.Work. Of Work, it implements only Every.
type house struct {
	callwright.Work
	*document.Service

	blobs portingstore.Blobs
	now   time.Time
	sweep callwright.Handler
}

// Now returns h.now, which tests set.
func (h *house) Now() time.Time { return h.now }

// Every records the periodic work, so that tests can run it.
func (h *house) Every(_ callwright.Queue, _ string, _ time.Duration, f callwright.Handler) {
	h.sweep = f
}

var start = time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC)

func newHouse(t testing.TB, change ...func(*document.Config)) *house {
	t.Helper()
	memory := memstore.New()
	h := &house{blobs: portingstore.Blobs{Store: memory}, now: start}
	c := document.Config{Store: portingstore.Documents{Store: memory}, Blobs: h.blobs, Work: h, Runtime: callwright.Runtime{Clock: h}}
	for _, f := range change {
		f(&c)
	}
	var err error
	if h.Service, err = document.New(c); err != nil {
		t.Fatal(err)
	}
	return h
}

// upload uploads a document, and fails the test if the document is refused.
func (h *house) upload(t testing.TB, org callwright.OrgID, content []byte) document.Document {
	t.Helper()
	d, err := h.Upload(t.Context(), org, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read returns the content of a document.
func (h *house) read(ctx context.Context, org callwright.OrgID, id string) ([]byte, error) {
	_, r, err := h.Open(ctx, org, id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// kept returns the keys of all stored blobs.
func (h *house) kept(t testing.TB) []string {
	t.Helper()
	keys, err := h.blobs.StaleBlobs(t.Context(), h.now.Add(time.Hour), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// ftyp returns an ISO base media file type box with a major brand and compatible brands, and the header of an mdat box.
func ftyp(major string, compatible ...string) []byte {
	box := append([]byte("\x00\x00\x00\x00ftyp"+major), 0, 0, 0, 0)
	for _, brand := range compatible {
		box = append(box, brand...)
	}
	binary.BigEndian.PutUint32(box, uint32(len(box)))
	return append(box, "\x00\x00\x00\x08mdat"...)
}
