package speechtest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
)

// SamplesTests returns the names of the tests of RunSamples.
func SamplesTests() []string { return samplesTests.names() }

// BlobsTests returns the names of the tests of RunBlobs.
func BlobsTests() []string { return blobsTests.names() }

// CheckSamples runs the tests of RunSamples sequentially, and returns the reports of each failed test by its name.
func CheckSamples(ctx context.Context, newSamples func() (speech.Samples, callwright.Atomic)) map[string][]string {
	return samplesTests.check(ctx, func() samples {
		s, atomic := newSamples()
		return samples{s, atomic}
	})
}

// CheckBlobs runs the tests of RunBlobs sequentially, and returns the reports of each failed test by its name.
func CheckBlobs(ctx context.Context, newBlobs func() speech.Blobs) map[string][]string {
	return blobsTests.check(ctx, func() blobs { return blobs{newBlobs()} })
}

// CheckEngine runs the tests of RunEngine sequentially, and returns the reports of each failed test by its name.
func CheckEngine(ctx context.Context, newEngine func() tts.Engine, f SpeechFeatures) map[string][]string {
	f = f.withDefaults()
	timed := slices.Clone(engineTests)
	for i, test := range engineTests {
		timed[i].run = func(r reporter, e engine) { bounded(r, f.Patience, func(r reporter) { test.run(r, e) }) }
	}
	return timed.check(ctx, func() engine { return engine{newEngine(), f, false} })
}

func (s suite[T]) names() (all []string) {
	for _, test := range s {
		all = append(all, test.name)
	}
	return all
}

func (s suite[T]) check(ctx context.Context, newOne func() T) map[string][]string {
	failed := map[string][]string{}
	for _, test := range s {
		r := &recorder{ctx: ctx}
		var running sync.WaitGroup
		running.Go(func() { test.run(r, newOne()) })
		running.Wait()
		if len(r.reports) > 0 {
			failed[test.name] = r.reports
		}
	}
	return failed
}

// recorder is a reporter that records the reports of a test.
type recorder struct {
	ctx     context.Context //nolint:containedctx // as a *testing.T has one
	mu      sync.Mutex
	reports []string
}

func (*recorder) Helper()                    {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Error(args ...any)        { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
