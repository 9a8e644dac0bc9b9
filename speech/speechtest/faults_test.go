package speechtest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
)

// faultySamples is a Samples whose methods call its fields, which a test replaces by faulty functions.
type faultySamples struct {
	speechstore.Samples

	insert func(ctx context.Context, s speech.Sample) error
	get    func(ctx context.Context, org callwright.OrgID, id string) (speech.Sample, error)
	byKey  func(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error)
	list   func(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) ([]speech.Sample, int, error)
	delete func(ctx context.Context, before time.Time, limit int) ([]speech.Sample, error)
	one    func(ctx context.Context, org callwright.OrgID, id string) error // DeleteSample
	used   func(ctx context.Context, org callwright.OrgID, blob string) (bool, error)
}

func (f *faultySamples) InsertSample(ctx context.Context, s speech.Sample) error {
	return f.insert(ctx, s)
}

func (f *faultySamples) Sample(ctx context.Context, org callwright.OrgID, id string) (speech.Sample, error) {
	return f.get(ctx, org, id)
}

func (f *faultySamples) SampleByKey(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error) {
	return f.byKey(ctx, org, key, since)
}

func (f *faultySamples) ListSamples(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) ([]speech.Sample, int, error) {
	return f.list(ctx, org, voice, limit, offset)
}

func (f *faultySamples) DeleteSample(ctx context.Context, org callwright.OrgID, id string) error {
	return f.one(ctx, org, id)
}

func (f *faultySamples) DeleteSamples(ctx context.Context, before time.Time, limit int) ([]speech.Sample, error) {
	return f.delete(ctx, before, limit)
}

func (f *faultySamples) BlobUsed(ctx context.Context, org callwright.OrgID, blob string) (bool, error) {
	return f.used(ctx, org, blob)
}

func checkSamples(t *testing.T, fault func(f *faultySamples)) map[string][]string {
	t.Helper()
	return speechtest.CheckSamples(t.Context(), func() (speech.Samples, callwright.Atomic) {
		store := memstore.New()
		s := speechstore.Samples{Store: store}
		f := &faultySamples{s, s.InsertSample, s.Sample, s.SampleByKey, s.ListSamples, s.DeleteSamples, s.DeleteSample, s.BlobUsed}
		fault(f)
		return f, store
	})
}

func TestRunSamplesCatchesFaults(t *testing.T) {
	t.Parallel()
	const farPast = -1000 * time.Hour
	all := map[string]struct {
		caughtBy string
		make     func(f *faultySamples)
	}{
		"loses nanoseconds": {"keeps every field", func(f *faultySamples) {
			f.insert = func(ctx context.Context, s speech.Sample) error {
				s.Duration = s.Duration.Truncate(time.Microsecond)
				return f.Samples.InsertSample(ctx, s)
			}
		}},
		"takes an id twice": {"refuses an id twice", func(f *faultySamples) {
			f.insert = func(ctx context.Context, s speech.Sample) error {
				if err := f.Samples.InsertSample(ctx, s); !errors.Is(err, callwright.ErrConflict) {
					return err
				}
				return nil
			}
		}},
		"shows foreign samples": {"hides other organizations'", func(f *faultySamples) {
			f.get = func(ctx context.Context, org callwright.OrgID, id string) (speech.Sample, error) {
				s, err := f.Samples.Sample(ctx, org, id)
				if err != nil {
					return f.Samples.Sample(ctx, "a", id)
				}
				return s, nil
			}
		}},
		"finds the oldest by its key": {"finds the newest by its key", func(f *faultySamples) {
			f.byKey = func(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error) {
				list, _, err := f.Samples.ListSamples(ctx, org, "", 1000, 0)
				slices.Reverse(list)
				for _, s := range list {
					if s.Key == key && !s.CreatedAt.Before(since) {
						return s, err
					}
				}
				return speech.Sample{}, callwright.NotFound("sample")
			}
		}},
		"finds what is too old": {"finds the newest by its key", func(f *faultySamples) {
			f.byKey = func(ctx context.Context, org callwright.OrgID, key string, since time.Time) (speech.Sample, error) {
				return f.Samples.SampleByKey(ctx, org, key, since.Add(farPast))
			}
		}},
		"sorts ties upwards": {"lists the newest first", func(f *faultySamples) {
			f.list = func(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) ([]speech.Sample, int, error) {
				list, total, err := f.Samples.ListSamples(ctx, org, voice, limit, offset)
				slices.SortFunc(list, func(a, b speech.Sample) int {
					return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
				})
				return list, total, err
			}
		}},
		"ignores the voice": {"lists those of a voice", func(f *faultySamples) {
			f.list = func(ctx context.Context, org callwright.OrgID, _ string, limit, offset int) ([]speech.Sample, int, error) {
				return f.Samples.ListSamples(ctx, org, "", limit, offset)
			}
		}},
		"counts pages from 1": {"pages by offset", func(f *faultySamples) {
			f.list = func(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) ([]speech.Sample, int, error) {
				return f.Samples.ListSamples(ctx, org, voice, limit, max(0, offset-1))
			}
		}},
		"forgets to count what was deleted": {"counts", func(f *faultySamples) {
			var most atomic.Int64
			f.list = func(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) ([]speech.Sample, int, error) {
				list, total, err := f.Samples.ListSamples(ctx, org, voice, limit, offset)
				most.Store(max(most.Load(), int64(total)))
				return list, int(most.Load()), err
			}
		}},
		"counts at once as one": {"counts many at once", func(f *faultySamples) {
			f.list = func(ctx context.Context, org callwright.OrgID, voice string, limit, offset int) ([]speech.Sample, int, error) {
				list, total, err := f.Samples.ListSamples(ctx, org, voice, limit, offset)
				return list, min(total, 1), err
			}
		}},
		"deletes another organization's": {"deletes one", func(f *faultySamples) {
			f.one = func(ctx context.Context, _ callwright.OrgID, id string) error {
				return errors.Join(f.Samples.DeleteSample(ctx, "a", id), f.Samples.DeleteSample(ctx, "b", id))
			}
		}},
		"deletes an absent one": {"deletes one", func(f *faultySamples) {
			f.one = func(ctx context.Context, org callwright.OrgID, id string) error {
				if err := f.Samples.DeleteSample(ctx, org, id); !errors.Is(err, callwright.ErrNotFound) {
					return err
				}
				return nil
			}
		}},
		"deletes none": {"deletes one", func(f *faultySamples) {
			f.one = func(ctx context.Context, org callwright.OrgID, id string) error {
				_, err := f.Samples.Sample(ctx, org, id)
				return err
			}
		}},
		"deletes the newest": {"deletes the oldest", func(f *faultySamples) {
			f.delete = func(ctx context.Context, before time.Time, limit int) ([]speech.Sample, error) {
				list, err := f.Samples.DeleteSamples(ctx, before, limit)
				slices.Reverse(list)
				return list, err
			}
		}},
		"deletes what is as old as the limit": {"deletes the oldest", func(f *faultySamples) {
			f.delete = func(ctx context.Context, before time.Time, limit int) ([]speech.Sample, error) {
				return f.Samples.DeleteSamples(ctx, before.Add(time.Nanosecond), limit)
			}
		}},
		"gives a sample to two": {"deletes each once", func(f *faultySamples) {
			var mu sync.Mutex
			var last []speech.Sample
			f.delete = func(ctx context.Context, before time.Time, limit int) ([]speech.Sample, error) {
				mu.Lock()
				defer mu.Unlock()
				if given := last; len(given) > 0 {
					last = nil
					return given, nil
				}
				list, err := f.Samples.DeleteSamples(ctx, before, limit)
				last = list
				return list, err
			}
		}},
		"always says that a blob is used": {"tells whether a blob is used", func(f *faultySamples) {
			f.used = func(context.Context, callwright.OrgID, string) (bool, error) { return true, nil }
		}},
		"leaves the transaction": {"ends with a transaction", func(f *faultySamples) {
			own := speechstore.Samples{Store: memstore.New()}
			f.insert = func(ctx context.Context, s speech.Sample) error {
				return errors.Join(own.InsertSample(ctx, s), f.Samples.InsertSample(ctx, s))
			}
			f.list = own.ListSamples
		}},
	}
	if failed := checkSamples(t, func(*faultySamples) {}); len(failed) > 0 {
		t.Errorf("samples without a fault fail %q", failed)
	}
	caught := map[string]bool{}
	for name, fault := range all {
		caught[fault.caughtBy] = true
		if failed := checkSamples(t, fault.make); len(failed[fault.caughtBy]) == 0 {
			t.Errorf("%s: %q does not fail, but %q", name, fault.caughtBy, failed)
		}
	}
	for _, name := range speechtest.SamplesTests() {
		if !caught[name] {
			t.Errorf("no fault is for %q to catch", name)
		}
	}
}

// faultyBlobs is a Blobs whose methods call its fields, which a test replaces by faulty functions.
type faultyBlobs struct {
	*speechstore.Blobs

	put    func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error
	open   func(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error)
	delete func(ctx context.Context, org callwright.OrgID, name string) error
}

func (f *faultyBlobs) StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
	return f.put(ctx, org, name, r, size)
}

func (f *faultyBlobs) OpenBlob(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	return f.open(ctx, org, name)
}

func (f *faultyBlobs) DeleteBlob(ctx context.Context, org callwright.OrgID, name string) error {
	return f.delete(ctx, org, name)
}

// storeBytes stores content even if ctx is canceled.
func (f *faultyBlobs) storeBytes(ctx context.Context, org callwright.OrgID, name string, content []byte) error {
	return f.Blobs.StoreBlob(context.WithoutCancel(ctx), org, name, bytes.NewReader(content), int64(len(content)))
}

// file is an open blob with replaceable Seek and Read.
type file struct {
	io.ReadSeekCloser

	seek func(offset int64, whence int) (int64, error)
	read func(p []byte) (int, error)
}

func (f *file) Seek(offset int64, whence int) (int64, error) { return f.seek(offset, whence) }
func (f *file) Read(p []byte) (int, error)                   { return f.read(p) }

// reading makes OpenBlob pass every opened blob through change.
func (f *faultyBlobs) reading(change func(one *file, org callwright.OrgID, name string)) {
	f.open = func(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
		r, err := f.Blobs.OpenBlob(ctx, org, name)
		if err != nil {
			return nil, err
		}
		one := &file{r, r.Seek, r.Read}
		change(one, org, name)
		return one, nil
	}
}

func checkBlobs(t *testing.T, fault func(f *faultyBlobs)) map[string][]string {
	t.Helper()
	return speechtest.CheckBlobs(t.Context(), func() speech.Blobs {
		b := new(speechstore.Blobs)
		f := &faultyBlobs{b, b.StoreBlob, b.OpenBlob, b.DeleteBlob}
		fault(f)
		return f
	})
}

func TestRunBlobsCatchesFaults(t *testing.T) {
	t.Parallel()
	all := map[string]struct {
		caughtBy string
		make     func(f *faultyBlobs)
	}{
		"ends a byte early": {"keeps bytes of every length", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				content, err := io.ReadAll(io.LimitReader(r, size))
				if err != nil {
					return err
				}
				return f.storeBytes(ctx, org, name, content[:max(0, len(content)-1)])
			}
		}},
		"reads once": {"keeps bytes of reluctant readers", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				content := make([]byte, size)
				n, err := r.Read(content)
				if err != nil && !errors.Is(err, io.EOF) {
					return err
				}
				return f.storeBytes(ctx, org, name, content[:n])
			}
		}},
		"does not seek": {"seeks", func(f *faultyBlobs) {
			f.reading(func(one *file, _ callwright.OrgID, _ string) {
				one.seek = func(offset int64, _ int) (int64, error) { return offset, nil }
			})
		}},
		"shares its place": {"has several read at once", func(f *faultyBlobs) {
			var mu sync.Mutex
			shared := map[string]io.ReadSeekCloser{}
			f.reading(func(one *file, org callwright.OrgID, name string) {
				mu.Lock()
				defer mu.Unlock()
				key := string(org) + "/" + name
				if shared[key] == nil {
					shared[key] = one.ReadSeekCloser
				}
				r := shared[key]
				one.read = func(p []byte) (int, error) { mu.Lock(); defer mu.Unlock(); return r.Read(p) }
				one.seek = func(o int64, w int) (int64, error) { mu.Lock(); defer mu.Unlock(); return r.Seek(o, w) }
			})
		}},
		"keeps what a reader gave before it failed": {"keeps nothing of a reader that fails", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				content, err := io.ReadAll(io.LimitReader(r, size))
				return errors.Join(err, f.storeBytes(ctx, org, name, content))
			}
		}},
		"does not look at the size": {"keeps nothing of another size", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, _ int64) error {
				content, err := io.ReadAll(r)
				if err != nil {
					return err
				}
				return f.storeBytes(ctx, org, name, content)
			}
		}},
		"does not look at the context": {"keeps nothing when its context ends", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				return f.Blobs.StoreBlob(context.WithoutCancel(ctx), org, name, r, size)
			}
		}},
		"shows what is there of it": {"shows no part", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				if err := f.storeBytes(ctx, org, name, nil); err != nil {
					return err
				}
				err := f.Blobs.StoreBlob(ctx, org, name, r, size)
				if err != nil {
					_ = f.Blobs.DeleteBlob(ctx, org, name)
				}
				return err
			}
		}},
		"shows foreign ones": {"hides absent and foreign ones", func(f *faultyBlobs) {
			f.open = func(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
				r, err := f.Blobs.OpenBlob(ctx, org, name)
				if err != nil {
					return f.Blobs.OpenBlob(ctx, "a", name)
				}
				return r, nil
			}
		}},
		"does not find what it has to delete": {"deletes", func(f *faultyBlobs) {
			f.delete = func(ctx context.Context, org callwright.OrgID, name string) error {
				if _, err := f.Blobs.OpenBlob(ctx, org, name); err != nil {
					return err
				}
				return f.Blobs.DeleteBlob(ctx, org, name)
			}
		}},
		"ends a reader when it deletes": {"lets a reader be when it deletes", func(f *faultyBlobs) {
			f.reading(func(one *file, org callwright.OrgID, name string) {
				one.read = func(p []byte) (int, error) {
					if _, err := f.Blobs.OpenBlob(context.Background(), org, name); err != nil {
						return 0, io.EOF
					}
					return one.ReadSeekCloser.Read(p)
				}
			})
		}},
		"refuses long names": {"takes every name that it has to", func(f *faultyBlobs) {
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				if len(name) > 100 {
					return fmt.Errorf("the name has %d bytes", len(name))
				}
				return f.Blobs.StoreBlob(ctx, org, name, r, size)
			}
		}},
		"joins names as a path": {"never leaves its place for an odd name", func(f *faultyBlobs) {
			place := func(org callwright.OrgID, name string) (callwright.OrgID, string) {
				return "", path.Join("/", string(org), name)
			}
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				org, name = place(org, name)
				return f.Blobs.StoreBlob(ctx, org, name, r, size)
			}
			f.open = func(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
				org, name = place(org, name)
				return f.Blobs.OpenBlob(ctx, org, name)
			}
			f.delete = func(ctx context.Context, org callwright.OrgID, name string) error {
				org, name = place(org, name)
				return f.Blobs.DeleteBlob(ctx, org, name)
			}
		}},
		"writes all to one place": {"keeps many at once", func(f *faultyBlobs) {
			var mu sync.Mutex
			var last []byte
			f.put = func(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
				content, err := io.ReadAll(r)
				if err != nil {
					return err
				}
				mu.Lock()
				last = content
				mu.Unlock()
				return f.Blobs.StoreBlob(ctx, org, name, bytes.NewReader(content), size)
			}
			f.reading(func(one *file, _ callwright.OrgID, _ string) {
				mu.Lock()
				one.read = bytes.NewReader(last).Read
				mu.Unlock()
			})
		}},
	}
	if failed := checkBlobs(t, func(*faultyBlobs) {}); len(failed) > 0 {
		t.Errorf("blobs without a fault fail %q", failed)
	}
	caught := map[string]bool{}
	for name, fault := range all {
		caught[fault.caughtBy] = true
		if failed := checkBlobs(t, fault.make); len(failed[fault.caughtBy]) == 0 {
			t.Errorf("%s: %q does not fail, but %q", name, fault.caughtBy, failed)
		}
	}
	for _, name := range speechtest.BlobsTests() {
		if !caught[name] {
			t.Errorf("no fault is for %q to catch", name)
		}
	}
}
