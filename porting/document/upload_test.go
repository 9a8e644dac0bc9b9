package document_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/document"
)

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")

func TestUploadGivesARecord(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	d := h.upload(t, "a", png)
	if !regexp.MustCompile(`^doc_[0-9a-f]{32}$`).MatchString(d.ID) || d.Size != int64(len(png)) || len(d.SHA256) != 64 ||
		!d.CreatedAt.Equal(start) || d.Org != "a" || d.Requests != nil {
		t.Errorf("the record is %+v", d)
	}
	got, err := h.Get(t.Context(), "a", d.ID)
	if err != nil || got.ID != d.ID || got.SHA256 != d.SHA256 || got.Size != d.Size {
		t.Errorf("it is read as %+v, %v", got, err)
	}
}

// zeros is an endless reader of zero bytes.
type zeros struct{}

// Read fills p with zeros.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// ofSize returns a file of size bytes that begins like a PNG.
func ofSize(size int64) io.Reader {
	return io.LimitReader(io.MultiReader(bytes.NewReader(png), zeros{}), size)
}

func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if d, err := h.Upload(t.Context(), "a", ofSize(document.MaxSize)); err != nil || d.Size != 10_485_760 {
		t.Errorf("10 MiB are %+v, %v", d, err)
	}
	before := h.kept(t)
	for name, r := range map[string]io.Reader{
		"one byte more": ofSize(document.MaxSize + 1), "endless": io.MultiReader(bytes.NewReader(png), zeros{}),
		"one byte more, with its end": iotest.DataErrReader(ofSize(document.MaxSize + 1)),
	} {
		_, err := h.Upload(t.Context(), "a", r)
		e, ok := errors.AsType[*callwright.Error](err)
		if !ok || e.Code != callwright.CodePayloadTooLarge || e.Field != "file" || !strings.Contains(e.Message, "10485760") {
			t.Errorf("%s gave %v", name, err)
		}
	}
	if kept := h.kept(t); len(kept) != len(before) {
		t.Errorf("%d blobs are kept, before it were %d", len(kept), len(before))
	}
}

func TestEmptyUpload(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, err := h.Upload(t.Context(), "a", strings.NewReader(""))
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != callwright.CodeBadRequest || e.Field != "file" || e.Message != "must not be empty" {
		t.Errorf("no bytes gave %v", err)
	}
	if kept := h.kept(t); len(kept) > 0 {
		t.Errorf("%v are kept", kept)
	}
}

func TestErrorOfReaderKeepsNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, size := range []int64{0, 4, 100, 5000, 300_000} {
		for _, failure := range []error{io.ErrUnexpectedEOF, errors.New("the line broke")} {
			_, err := h.Upload(t.Context(), "a", io.MultiReader(ofSize(size), iotest.ErrReader(failure)))
			if !errors.Is(err, failure) {
				t.Errorf("after %d bytes, %v came back as %v", size, failure, err)
			}
		}
	}
	if kept := h.kept(t); len(kept) > 0 {
		t.Errorf("%v are kept", kept)
	}
}

func TestUnusedDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *document.Config) { c.MaxUnused = 2 })
	first := h.upload(t, "a", png)
	h.upload(t, "a", png)
	read := false
	_, err := h.Upload(t.Context(), "a", io.MultiReader(bytes.NewReader(png), readerFunc(func([]byte) (int, error) {
		read = true
		return 0, io.EOF
	})))
	if !errors.Is(err, callwright.ErrTooManyRequests) || !strings.Contains(err.Error(), "at most 2 documents") {
		t.Errorf("a third document gave %v", err)
	}
	if read {
		t.Error("a document that is refused was read")
	}
	h.upload(t, "b", png)
	if absent, err := h.UseDocuments(t.Context(), "a", "r1", []string{first.ID}); err != nil || len(absent) > 0 {
		t.Fatalf("%v are absent, %v", absent, err)
	}
	h.upload(t, "a", png)
}

// readerFunc implements io.Reader with a function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestBoundHoldsForManyAtOnce checks that the limit of unused documents holds even if another upload finishes while a document is read.
func TestBoundHoldsForManyAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *document.Config) { c.MaxUnused = 1 })
	_, err := h.Upload(t.Context(), "a", io.MultiReader(ofSize(5000), readerFunc(func([]byte) (int, error) {
		h.upload(t, "a", png)
		return 0, io.EOF
	})))
	if !errors.Is(err, callwright.ErrTooManyRequests) || !strings.Contains(err.Error(), "at most 1 documents") {
		t.Errorf("the later document gave %v", err)
	}
}

// TestOrganizationsShareNothing checks that two organizations that upload the same bytes have separate documents, and that one cannot
// access the other's document. The bytes are stored once.
func TestOrganizationsShareNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a, b := h.upload(t, "a", png), h.upload(t, "b", png)
	if a.ID == b.ID || len(h.kept(t)) != 1 {
		t.Errorf("the documents are %s and %s, and %v are kept", a.ID, b.ID, h.kept(t))
	}
	for _, id := range []string{b.ID, "doc_0", ""} {
		_, getErr := h.Get(t.Context(), "a", id)
		_, openErr := h.read(t.Context(), "a", id)
		absent, err := h.UseDocuments(t.Context(), "a", "r1", []string{a.ID, id})
		if !errors.Is(getErr, callwright.ErrNotFound) || !errors.Is(openErr, callwright.ErrNotFound) || getErr.Error() != openErr.Error() {
			t.Errorf("document %q gave %v and %v", id, getErr, openErr)
		}
		if err != nil || len(absent) != 1 || absent[0] != id {
			t.Errorf("%v are absent, %v; want %q", absent, err, id)
		}
	}
	if got, err := h.Get(t.Context(), "b", b.ID); err != nil || len(got.Requests) > 0 {
		t.Errorf("the other document is %+v, %v", got, err)
	}
}

func TestLostBytesAreNoMissingDocument(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	d := h.upload(t, "a", png)
	if err := h.blobs.DeleteBlob(t.Context(), d.SHA256, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.read(t.Context(), "a", d.ID); callwright.CodeOf(err) != callwright.CodeInternal {
		t.Errorf("a document without its bytes gave %v", err)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*document.Config){
		func(c *document.Config) { c.Store = nil }, func(c *document.Config) { c.Blobs = nil }, func(c *document.Config) { c.Work = nil },
	} {
		c := document.Config{Store: noStore{}, Blobs: noBlobs{}, Work: &house{}}
		if _, err := document.New(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := document.New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

type (
	noStore struct{ document.Store }
	noBlobs struct{ document.Blobs }
)
