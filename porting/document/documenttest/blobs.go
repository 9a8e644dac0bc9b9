package documenttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/porting/document"
)

// NewBlobs returns an empty document.Blobs for a test.
type NewBlobs func(t *testing.T) document.Blobs

// RunBlobs tests a document.Blobs. atRest returns the data as the store keeps it, including file names and keys. If atRest is nil, as for a
// store in memory, encryption is not tested.
func RunBlobs(t *testing.T, newBlobs NewBlobs, atRest callwrighttest.AtRest[document.Blobs]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, blobs){
		"keeps bytes of every length":          keepsBytes,
		"keeps bytes from reluctant readers":   keepsReluctant,
		"keeps nothing of a reader that fails": keepsNothingHalf,
		"keeps nothing when its context ends":  keepsNothingCanceled,
		"keeps the same bytes once":            keepsOnce,
		"keeps the same bytes of many once":    keepsOnceOfMany,
		"lists the oldest first":               listsStale,
		"touches what is older":                touches,
		"deletes what is older":                deletesBlob,
		"deletes or keeps what is put again":   deletesOrPuts,
		"has no bytes that were not put":       hasNone,
		"encrypts":                             encryptsBytes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, blobs{newBlobs(t), atRest})
		})
	}
}

// blobs wraps the store under test with helpers.
type blobs struct {
	document.Blobs

	atRest callwrighttest.AtRest[document.Blobs]
}

// someBytes returns pseudo-random bytes. The result depends only on size.
func someBytes(size int) []byte {
	b := make([]byte, size)
	state := uint32(size) + 1
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = byte(state >> 24)
	}
	return b
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// store stores bytes and returns their hash. It fails the test if the returned hash or size is wrong.
func (b blobs) store(t *testing.T, content []byte, at time.Time) string {
	t.Helper()
	got, err := b.StoreBlob(t.Context(), bytes.NewReader(content), at)
	if want := (document.Blob{SHA256: hashOf(content), Size: int64(len(content))}); err != nil || got != want {
		t.Fatalf("%d bytes are %+v, %v; want %+v", len(content), got, err, want)
	}
	return got.SHA256
}

func (b blobs) read(ctx context.Context, hash string) ([]byte, error) {
	r, err := b.OpenBlob(ctx, hash)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

func (b blobs) want(t *testing.T, content []byte) {
	t.Helper()
	if got, err := b.read(t.Context(), hashOf(content)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes are read as %d, %v", len(content), len(got), err)
	}
}

func (b blobs) wantAbsent(t *testing.T, hash string) {
	t.Helper()
	if _, err := b.OpenBlob(t.Context(), hash); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("absent bytes gave %v", err)
	}
}

// wantStale checks that StaleBlobs returns exactly the given keys, in order.
func (b blobs) wantStale(t *testing.T, before time.Time, want ...string) {
	t.Helper()
	if got, err := b.StaleBlobs(t.Context(), before, enough); err != nil || !slices.Equal(got, want) {
		t.Errorf("stale are %v, %v; want %v", got, err, want)
	}
}

func keepsBytes(t *testing.T, b blobs) {
	for _, size := range []int{0, 1, 32<<10 - 1, 32 << 10, 48 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, 200_000} {
		content := someBytes(size)
		b.store(t, content, at)
		b.want(t, content)
	}
}

func keepsReluctant(t *testing.T, b blobs) {
	content := someBytes(70_000)
	for name, r := range map[string]io.Reader{
		"half":     iotest.HalfReader(bytes.NewReader(content)),
		"data err": iotest.DataErrReader(bytes.NewReader(content)),
	} {
		if got, err := b.StoreBlob(t.Context(), r, at); err != nil || got.SHA256 != hashOf(content) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	b.want(t, content)
	r, err := b.OpenBlob(t.Context(), hashOf(content))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := iotest.TestReader(r, content); err != nil {
		t.Error(err)
	}
}

var errReader = errors.New("the line broke")

func keepsNothingHalf(t *testing.T, b blobs) {
	for _, size := range []int{0, 100, 64 << 10, 150_000} {
		content := someBytes(size)
		for _, failure := range []error{errReader, io.ErrUnexpectedEOF, callwright.ErrPayloadTooLarge} {
			_, err := b.StoreBlob(t.Context(), io.MultiReader(bytes.NewReader(content), iotest.ErrReader(failure)), at)
			if !errors.Is(err, failure) {
				t.Errorf("after %d bytes, %v came back as %v", size, failure, err)
			}
		}
		b.wantAbsent(t, hashOf(content))
	}
	b.wantStale(t, later(1))
}

func keepsNothingCanceled(t *testing.T, b blobs) {
	ctx, cancel := context.WithCancel(t.Context())
	content := someBytes(150_000)
	r := io.MultiReader(bytes.NewReader(content[:100_000]), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	}))
	if _, err := b.StoreBlob(ctx, r, at); err == nil {
		t.Error("bytes were kept after the context had ended")
	}
	b.wantAbsent(t, hashOf(content[:100_000]))
	b.wantStale(t, later(1))
}

// readerFunc implements io.Reader with a function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func keepsOnce(t *testing.T, b blobs) {
	content := someBytes(100_000)
	hash := b.store(t, content, later(1))
	b.store(t, content, later(3))
	b.store(t, content, later(2)) // an older time does not replace a newer one
	b.wantStale(t, later(3))
	b.wantStale(t, later(4), hash)
	b.want(t, content)
}

func keepsOnceOfMany(t *testing.T, b blobs) {
	const many = 6
	content := someBytes(100_000)
	errs := atOnce(many, func(int) error {
		_, err := b.StoreBlob(t.Context(), bytes.NewReader(content), at)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	b.want(t, content)
	b.wantStale(t, later(1), hashOf(content))
}

func listsStale(t *testing.T, b blobs) {
	third, first, second := b.store(t, someBytes(3), later(3)), b.store(t, someBytes(1), later(1)), b.store(t, someBytes(2), later(2))
	b.wantStale(t, later(1))
	b.wantStale(t, later(3), first, second)
	b.wantStale(t, later(9), first, second, third)
	if got, err := b.StaleBlobs(t.Context(), later(9), 2); err != nil || !slices.Equal(got, []string{first, second}) {
		t.Errorf("the first two are %v, %v", got, err)
	}
}

func touches(t *testing.T, b blobs) {
	first, second, third := b.store(t, someBytes(1), later(1)), b.store(t, someBytes(2), later(2)), b.store(t, someBytes(3), later(8))
	for range 2 {
		if err := b.TouchBlobs(t.Context(), []string{first, third, aHash("0"), "no hash"}, later(5)); err != nil {
			t.Fatal(err)
		}
	}
	b.wantStale(t, later(9), second, first, third)
	b.wantStale(t, later(8), second, first)
	b.wantStale(t, later(5), second)
	if err := b.TouchBlobs(t.Context(), nil, later(9)); err != nil {
		t.Errorf("to touch nothing gave %v", err)
	}
}

func deletesBlob(t *testing.T, b blobs) {
	content := someBytes(100_000)
	hash := b.store(t, content, later(5))
	drop := func(key string, before time.Time) {
		t.Helper()
		if err := b.DeleteBlob(t.Context(), key, before); err != nil {
			t.Error(err)
		}
	}
	drop(hash, later(5))
	b.want(t, content)
	drop(aHash("0"), later(6))
	drop("no hash", later(6))
	b.want(t, content)
	drop(hash, later(6))
	b.wantAbsent(t, hash)
	drop(hash, later(6))
	b.wantStale(t, later(9))
	b.store(t, content, later(1)) // the time of the deleted bytes is not kept
	b.want(t, content)
	b.wantStale(t, later(2), hash)
}

// deletesOrPuts deletes old bytes while they are stored again: in either order, they must be stored afterwards.
func deletesOrPuts(t *testing.T, b blobs) {
	content := someBytes(100_000)
	for round := range 4 {
		hash := b.store(t, content, later(10*round))
		errs := atOnce(4, func(i int) error {
			if i%2 == 0 {
				return b.DeleteBlob(t.Context(), hash, later(10*round+5))
			}
			_, err := b.StoreBlob(t.Context(), bytes.NewReader(content), later(10*round+5))
			return err
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		b.want(t, content)
		b.wantStale(t, later(10*round+6), hash)
	}
}

func hasNone(t *testing.T, b blobs) {
	b.wantAbsent(t, aHash("0"))
	b.wantAbsent(t, "no hash")
	b.wantAbsent(t, "")
	b.wantStale(t, later(9))
}

func encryptsBytes(t *testing.T, b blobs) {
	if b.atRest == nil {
		return // a store in memory encrypts nothing
	}
	secret := []byte("account 88231 of Robin Fox ") // a multiple of 3 bytes, so that its repetitions have the same base64 form
	content := bytes.Repeat(secret, 5000)
	hash := b.store(t, content, at)
	b.want(t, content)
	raw := b.atRest(t, b.Blobs)
	if !bytes.Contains(raw, []byte(hash)) || len(raw) < len(content) {
		t.Fatalf("what is at rest, %d bytes, has nothing of what was put", len(raw))
	}
	for form, text := range map[string]string{
		"plain text": string(secret), "hexadecimal": hex.EncodeToString(secret), "base64": base64.RawStdEncoding.EncodeToString(secret),
	} {
		if bytes.Contains(raw, []byte(text)) {
			t.Errorf("bytes are at rest in %s", form)
		}
	}
}
