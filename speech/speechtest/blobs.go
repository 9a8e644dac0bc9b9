package speechtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
)

// Cut truncates a stored blob, as a damaged disk or backup might.
type Cut func(t *testing.T, b speech.Blobs, org callwright.OrgID, name string)

// RunBlobs tests a speech.Blobs. newBlobs returns an empty store. cut may be nil if a test cannot truncate stored audio.
func RunBlobs(t *testing.T, newBlobs func(t *testing.T) speech.Blobs, cut Cut) {
	t.Helper()
	blobsTests.test(t, func(t *testing.T) blobs { t.Helper(); return blobs{newBlobs(t)} })
	if cut == nil {
		return
	}
	t.Run("fails to read audio that was cut", func(t *testing.T) {
		t.Parallel()
		blobs{newBlobs(t)}.failsToReadCut(t, cut)
	})
}

var blobsTests = suite[blobs]{
	{"keeps bytes of every length", keepsBlob},
	{"keeps bytes of reluctant readers", keepsReluctant},
	{"seeks", seeksBlob},
	{"has several read at once", readsBlobTwice},
	{"keeps nothing of a reader that fails", keepsNothingHalf},
	{"keeps nothing of another size", keepsNothingOfAnotherSize},
	{"keeps nothing when its context ends", keepsNothingCanceled},
	{"shows no part", showsNoPart},
	{"hides absent and foreign ones", hidesBlobs},
	{"deletes", deletesBlob},
	{"lets a reader be when it deletes", deletesWhileRead},
	{"takes every name that it has to", takesNames},
	{"never leaves its place for an odd name", staysInPlace},
	{"keeps many at once", keepsManyAtOnce},
}

// blobs is the adapter under test.
type blobs struct{ speech.Blobs }

// someAudio returns size bytes of a WAV file with varying bytes, or the beginning of the file if size is smaller than the header.
func someAudio(size int) []byte {
	b := make([]byte, max(size, 44))
	state := uint32(size) + 1
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = byte(state >> 24)
	}
	copy(b, "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data")
	binary.LittleEndian.PutUint32(b[4:], uint32(max(size, 44)-8))
	binary.LittleEndian.PutUint32(b[40:], uint32(max(size, 44)-44))
	return b[:size]
}

func (b blobs) store(t reporter, org callwright.OrgID, name string, content []byte) {
	t.Helper()
	if err := b.StoreBlob(t.Context(), org, name, bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatalf("put %d bytes as %q of %q: %v", len(content), name, org, err)
	}
}

func (b blobs) open(t reporter, org callwright.OrgID, name string) io.ReadSeekCloser {
	t.Helper()
	f, err := b.OpenBlob(t.Context(), org, name)
	if err != nil {
		t.Fatalf("open %q of %q: %v", name, org, err)
	}
	return f
}

func (b blobs) want(t reporter, org callwright.OrgID, name string, want []byte) {
	t.Helper()
	f, err := b.OpenBlob(t.Context(), org, name)
	if err != nil {
		t.Errorf("open %q of %q: %v", name, org, err)
		return
	}
	got, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q of %q: read %d bytes, %v; want %d", name, org, len(got), err, len(want))
	}
}

func (b blobs) wantAbsent(t reporter, org callwright.OrgID, name string) {
	t.Helper()
	f, err := b.OpenBlob(t.Context(), org, name)
	if err == nil {
		_ = f.Close()
	}
	wantCode(t, fmt.Sprintf("the absent %q of %q", name, org), err, callwright.CodeNotFound)
}

func keepsBlob(t reporter, b blobs) {
	for _, size := range []int{0, 1, 44, 4095, 4096, 4097, 64 << 10, 300_001} {
		name := fmt.Sprint("n", size)
		b.store(t, "a", name, someAudio(size))
		b.want(t, "a", name, someAudio(size))
	}
}

func keepsReluctant(t reporter, b blobs) {
	content := someAudio(70_000)
	for name, r := range map[string]io.Reader{
		"half": iotest.HalfReader(bytes.NewReader(content)),
		"data": iotest.DataErrReader(bytes.NewReader(content)),
		"one":  iotest.OneByteReader(bytes.NewReader(content)),
	} {
		if err := b.StoreBlob(t.Context(), "a", name, r, int64(len(content))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.want(t, "a", name, content)
	}
}

func seeksBlob(t reporter, b blobs) {
	content := someAudio(3000)
	b.store(t, "a", "n", content)
	f := b.open(t, "a", "n")
	defer f.Close()
	if err := iotest.TestReader(f, content); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		offset int64
		whence int
		want   int64
	}{{100, io.SeekStart, 100}, {-10, io.SeekEnd, 2990}, {0, io.SeekStart, 0}, {5, io.SeekCurrent, 25}, {3000, io.SeekStart, 3000}} {
		if at, err := f.Seek(c.offset, c.whence); at != c.want || err != nil {
			t.Fatalf("seek %d, %d: %d, %v", c.offset, c.whence, at, err)
		}
		p := make([]byte, 20)
		n, err := io.ReadFull(f, p)
		if want := content[c.want:min(c.want+20, 3000)]; !bytes.Equal(p[:n], want) || (err == nil) != (len(want) == 20) {
			t.Errorf("from %d it read %d bytes, %v", c.want, n, err)
		}
	}
	if _, err := f.Seek(-1, io.SeekStart); err == nil {
		t.Error("it seeks to before the beginning")
	}
}

func readsBlobTwice(t reporter, b blobs) {
	content := someAudio(200_000)
	b.store(t, "a", "n", content)
	one, other := b.open(t, "a", "n"), b.open(t, "a", "n")
	defer other.Close()
	p := make([]byte, 100_000)
	if _, err := io.ReadFull(one, p); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(other); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the second reader got %d bytes, %v", len(got), err)
	}
	if _, err := other.Seek(0, io.SeekStart); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(one); err != nil || !bytes.Equal(got, content[100_000:]) {
		t.Errorf("the first reader got %d more bytes, %v", len(got), err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	errs := atOnce(8, func(int) error { b.want(t, "a", "n", content); return nil })
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(other); err != nil || !bytes.Equal(got, content) {
		t.Errorf("after the first was closed the second got %d bytes, %v", len(got), err)
	}
}

var errReader = errors.New("the line broke")

func keepsNothingHalf(t reporter, b blobs) {
	content := someAudio(150_000)
	for i, sent := range []int{0, 100, 64 << 10, 150_000} {
		for _, failure := range []error{errReader, io.ErrUnexpectedEOF, callwright.ErrPayloadTooLarge} {
			name := fmt.Sprintf("n%d", i)
			r := io.MultiReader(bytes.NewReader(content[:sent]), iotest.ErrReader(failure))
			if err := b.StoreBlob(t.Context(), "a", name, r, 150_001); !errors.Is(err, failure) {
				t.Errorf("after %d bytes, %v came back as %v", sent, failure, err)
			}
			b.wantAbsent(t, "a", name)
		}
	}
	b.store(t, "a", "n0", content)
	b.want(t, "a", "n0", content)
}

func keepsNothingOfAnotherSize(t reporter, b blobs) {
	content := someAudio(5000)
	for name, size := range map[string]int64{"short": 5001, "shorter": 100_000, "long": 4999, "longer": 0} {
		if err := b.StoreBlob(t.Context(), "a", name, bytes.NewReader(content), size); err == nil {
			t.Errorf("%d bytes are kept as %d", len(content), size)
		}
		b.wantAbsent(t, "a", name)
	}
}

// readerFunc is a function that implements io.Reader.
type readerFunc func(p []byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func keepsNothingCanceled(t reporter, b blobs) {
	content := someAudio(150_000)
	for name, ending := range map[string]error{"end": io.EOF, "fails": errReader} {
		ctx, cancel := context.WithCancel(t.Context())
		r := io.MultiReader(bytes.NewReader(content), readerFunc(func([]byte) (int, error) {
			cancel()
			return 0, ending
		}))
		if err := b.StoreBlob(ctx, "a", name, r, 150_000); err == nil {
			t.Error("bytes were kept after the context had ended")
		}
		b.wantAbsent(t, "a", name)
		if err := b.StoreBlob(ctx, "a", name, bytes.NewReader(content), 150_000); err == nil {
			t.Error("bytes were kept with a context that had ended before")
		}
		b.wantAbsent(t, "a", name)
	}
	endless, cancel := context.WithCancel(t.Context())
	read := 0
	r := readerFunc(func(p []byte) (int, error) {
		if read += len(p); read > 1<<20 {
			cancel()
		}
		if read > 64<<20 {
			t.Errorf("%d bytes are read after the context has ended", read)
			return 0, errReader
		}
		return len(p), nil
	})
	soon(t, "StoreBlob, whose context has ended,", func() {
		if err := b.StoreBlob(endless, "a", "endless", r, 256<<20); err == nil {
			t.Error("audio was kept whose reader has no end")
		}
	})
	b.wantAbsent(t, "a", "endless")
}

// showsNoPart checks that a blob cannot be opened while StoreBlob reads its content.
func showsNoPart(t reporter, b blobs) {
	content := someAudio(150_000)
	looked := false
	r := io.MultiReader(bytes.NewReader(content[:100_000]), readerFunc(func([]byte) (int, error) {
		b.wantAbsent(t, "a", "n")
		looked = true
		return 0, io.EOF
	}), bytes.NewReader(content[100_000:]))
	if err := b.StoreBlob(t.Context(), "a", "n", r, 150_000); err != nil || !looked {
		t.Errorf("put: %v", err)
	}
	b.want(t, "a", "n", content)
}

func hidesBlobs(t reporter, b blobs) {
	b.store(t, "a", "n", someAudio(100))
	b.wantAbsent(t, "b", "n")
	b.wantAbsent(t, "a", "m")
	if err := b.DeleteBlob(t.Context(), "b", "n"); err != nil {
		t.Errorf("to delete an absent one: %v", err)
	}
	b.store(t, "b", "n", someAudio(200))
	b.want(t, "a", "n", someAudio(100))
	b.want(t, "b", "n", someAudio(200))
}

func deletesBlob(t reporter, b blobs) {
	b.store(t, "a", "n", someAudio(100))
	b.store(t, "a", "m", someAudio(101))
	for _, name := range []string{"n", "n", "absent"} {
		if err := b.DeleteBlob(t.Context(), "a", name); err != nil {
			t.Errorf("delete %q: %v", name, err)
		}
	}
	b.wantAbsent(t, "a", "n")
	b.want(t, "a", "m", someAudio(101))
	if err := b.DeleteBlob(t.Context(), "nobody", "n"); err != nil {
		t.Errorf("delete of an organization without audio: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	soon(t, "DeleteBlob with an ended context", func() { _ = b.DeleteBlob(ctx, "a", "absent") })
}

// deletesWhileRead deletes a blob while a reader is open. The reader must return the rest of the blob, or an error.
func deletesWhileRead(t reporter, b blobs) {
	content := someAudio(1 << 20)
	b.store(t, "a", "n", content)
	f := b.open(t, "a", "n")
	defer f.Close()
	p := make([]byte, 1000)
	if _, err := io.ReadFull(f, p); err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteBlob(t.Context(), "a", "n"); err != nil {
		t.Fatal(err)
	}
	b.wantAbsent(t, "a", "n")
	if rest, err := io.ReadAll(f); err == nil && !bytes.Equal(rest, content[1000:]) {
		t.Errorf("%d bytes of the rest are read, without an error", len(rest))
	}
}

func takesNames(t reporter, b blobs) {
	for i, name := range []string{"0b5c2f7e-5a0e-4f0e-9d3e-6c1f0d1a2b3c", "A_b-9", strings.Repeat("x", 128), strings.Repeat("0f", 32)} {
		b.store(t, callwright.OrgID(name), name, someAudio(100+i))
		b.want(t, callwright.OrgID(name), name, someAudio(100+i))
	}
}

// oddNames lists names with which a careless adapter may address another blob.
var oddNames = []string{
	"", ".", "..", "../a/n", "../n", "./n", "n/", "/n", "a/../n", "n\x00", "n\x00m", `..\a\n`, `a\n`, "n.wav", "n\n", "n?x=1", "n#x", "%6e", "\xff", "n*",
	strings.Repeat("y", 5000), "C:n", "n ", "\u202en",
}

// staysInPlace stores blobs under odd names. StoreBlob must refuse the names or use them literally, and other blobs must not change.
func staysInPlace(t reporter, b blobs) {
	victim, other := someAudio(100), someAudio(101)
	b.store(t, "a", "n", victim)
	for _, odd := range oddNames {
		for _, c := range []struct {
			org  callwright.OrgID
			name string
		}{{"a", odd}, {callwright.OrgID(odd), "n"}, {callwright.OrgID("a/" + odd), "n"}} {
			what := fmt.Sprintf("%.20q of %.20q", c.name, c.org)
			b.wantAbsent(t, c.org, c.name)
			switch err := b.StoreBlob(t.Context(), c.org, c.name, bytes.NewReader(other), int64(len(other))); err {
			case nil:
				b.want(t, c.org, c.name, other)
			default:
				b.wantAbsent(t, c.org, c.name)
			}
			b.want(t, "a", "n", victim)
			b.wantAbsent(t, "b", "n")
			if err := b.DeleteBlob(t.Context(), c.org, c.name); err != nil {
				t.Errorf("to delete %s gave %v", what, err)
			}
			b.want(t, "a", "n", victim)
		}
	}
}

func keepsManyAtOnce(t reporter, b blobs) {
	const many = 16
	org := func(i int) callwright.OrgID { return callwright.OrgID(fmt.Sprint("o", i%3)) }
	errs := atOnce(many, func(i int) error {
		content := someAudio(20_000 + i)
		return b.StoreBlob(t.Context(), org(i), fmt.Sprint("n", i), bytes.NewReader(content), int64(len(content)))
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		b.want(t, org(i), fmt.Sprint("n", i), someAudio(20_000+i))
	}
}

// failsToReadCut truncates one blob before it is opened, and another blob while it is open. Opening or reading the first one must fail, but
// not with CodeNotFound. Reading the other one must fail.
func (b blobs) failsToReadCut(t *testing.T, cut Cut) {
	content := someAudio(100_000)
	b.store(t, "a", "before", content)
	cut(t, b.Blobs, "a", "before")
	f, err := b.OpenBlob(t.Context(), "a", "before")
	if err == nil {
		_, err = io.ReadAll(f)
		_ = f.Close()
	}
	if err == nil || errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("audio that was cut before is opened and read, %v", err)
	}
	b.store(t, "a", "open", content)
	f = b.open(t, "a", "open")
	defer f.Close()
	cut(t, b.Blobs, "a", "open")
	if n, err := io.Copy(io.Discard, f); err == nil {
		t.Errorf("%d of %d bytes are read of audio that was cut meanwhile, without an error", n, len(content))
	}
}
