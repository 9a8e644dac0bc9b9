package document_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/document"
)

const day = 24 * time.Hour

// sweepAt sets the clock to the given duration after the time in the variable start, and runs the periodic work.
func (h *house) sweepAt(t *testing.T, after time.Duration) {
	t.Helper()
	h.now = start.Add(after)
	if err := h.sweep(t.Context(), callwright.Task{}, 1); err != nil {
		t.Fatal(err)
	}
}

func (h *house) wantKept(t *testing.T, want ...string) {
	t.Helper()
	got := h.kept(t)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("at %v, %v are kept, want %v", h.now, got, want)
	}
}

func TestUnusedDocumentsAreDeleted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	unused, used := h.upload(t, "a", png), h.upload(t, "a", append(bytes.Clone(png), 1))
	if _, err := h.UseDocuments(t.Context(), "a", "r1", []string{used.ID}); err != nil {
		t.Fatal(err)
	}
	for days := range 31 { // daily, so that the blobs are repeatedly found to be in use
		h.sweepAt(t, time.Duration(days)*day)
		if _, err := h.Get(t.Context(), "a", unused.ID); err != nil {
			t.Fatalf("after %d days: %v", days, err)
		}
	}
	h.wantKept(t, unused.SHA256, used.SHA256)
	h.sweepAt(t, 30*day+time.Second)
	if _, err := h.Get(t.Context(), "a", unused.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("an old document that nobody uses: %v", err)
	}
	h.sweepAt(t, 32*day)
	h.wantKept(t, used.SHA256)
	h.sweepAt(t, 400*day)
	if got, err := h.read(t.Context(), "a", used.ID); err != nil || len(got) != len(png)+1 {
		t.Errorf("a document that a request uses: %d bytes, %v", len(got), err)
	}
}

// TestSharedBytesStay checks that shared bytes stay when one of two documents with equal bytes is deleted.
func TestSharedBytesStay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.upload(t, "a", png)
	b := h.upload(t, "b", png)
	if _, err := h.UseDocuments(t.Context(), "b", "r1", []string{b.ID}); err != nil {
		t.Fatal(err)
	}
	for days := 30; days < 34; days++ {
		h.sweepAt(t, time.Duration(days)*day+time.Second)
	}
	if got, err := h.read(t.Context(), "b", b.ID); err != nil || !bytes.Equal(got, png) {
		t.Errorf("the other document is read as %q, %v", got, err)
	}
}

// TestBytesWithoutADocumentAreDeleted checks that the bytes of an upload that failed before its record was stored are deleted after a day.
func TestBytesWithoutADocumentAreDeleted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	blob, err := h.blobs.StoreBlob(t.Context(), bytes.NewReader(png), start)
	if err != nil {
		t.Fatal(err)
	}
	h.sweepAt(t, day)
	h.wantKept(t, blob.SHA256)
	h.sweepAt(t, day+time.Second)
	h.wantKept(t)
}

var errDown = errors.New("down")

// TestRoundsReachAllBytes checks that an unused blob is deleted even if it follows more used blobs than one round checks.
func TestRoundsReachAllBytes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *document.Config) { c.MaxUnused = 1000 })
	const many = 501
	for i := range many {
		h.upload(t, "a", fmt.Appendf(nil, "%s %d", png, i))
	}
	h.now = start.Add(time.Hour)
	if _, err := h.blobs.StoreBlob(t.Context(), bytes.NewReader(png), h.now); err != nil {
		t.Fatal(err)
	}
	h.sweepAt(t, 2*day)
	h.sweepAt(t, 2*day)
	if n := len(h.kept(t)); n != many {
		t.Errorf("after two rounds, %d blobs are kept, want %d", n, many)
	}
}

// stubborn is a document.Blobs whose first deletion fails.
type stubborn struct {
	document.Blobs

	failed bool
}

// DeleteBlob returns errDown for the first call.
func (b *stubborn) DeleteBlob(ctx context.Context, key string, before time.Time) error {
	if !b.failed {
		b.failed = true
		return errDown
	}
	return b.Blobs.DeleteBlob(ctx, key, before)
}

func TestRoundGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *document.Config) { c.Blobs = &stubborn{Blobs: c.Blobs} })
	for i := range 3 {
		if _, err := h.blobs.StoreBlob(t.Context(), bytes.NewReader([]byte{byte(i)}), start); err != nil {
			t.Fatal(err)
		}
	}
	h.now = start.Add(2 * day)
	if err := h.sweep(t.Context(), callwright.Task{}, 1); !errors.Is(err, errDown) {
		t.Errorf("a round that fails gave %v", err)
	}
	if kept := h.kept(t); len(kept) != 1 {
		t.Errorf("%v are kept after it", kept)
	}
	h.sweepAt(t, 2*day)
	h.wantKept(t)
}
