package speech_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

const (
	org   = callwright.OrgID("a")
	other = callwright.OrgID("b")
)

// house is a service under test with its fakes.
type house struct {
	*speech.Service

	t      *testing.T
	engine *speechtest.Engine
	cloner *speechtest.Cloner
	blobs  *blobs
}

// inHouse runs a test with a house in a bubble of testing/synctest, where waiting consumes no real time. Before it creates the service, it
// calls the functions in change, which may modify the house and the configuration.
func inHouse(t *testing.T, test func(t *testing.T, h *house), change ...func(*house, *speech.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		memory := memstore.New()
		work := memstore.NewWork(memory, nil)
		h := &house{t: t, engine: new(speechtest.Engine), cloner: new(speechtest.Cloner), blobs: &blobs{kept: map[blobName][]byte{}}}
		c := speech.Config{
			Engine: h.engine, Voices: speechstore.Voices{Store: memory}, Samples: speechstore.Samples{Store: memory}, Blobs: h.blobs,
			Atomic: memory, Work: work, Key: callwright.Secret(strings.Repeat("k", 32)), Cloner: h.cloner, Decoder: decoder{},
		}
		for _, f := range change {
			f(h, &c)
		}
		var err error
		if h.Service, err = speech.New(c); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = work.Run(ctx) })
		test(t, h)
		stop()
		running.Wait()
	})
}

// say speaks a text and returns its sample.
func (h *house) say(of callwright.OrgID, r speech.Request) speech.Sample {
	h.t.Helper()
	s, err := h.Speak(h.t.Context(), of, r)
	if err != nil {
		h.t.Fatalf("speak %q: %v", r.Text, err)
	}
	return s
}

// read returns the decoded audio of a sample.
func (h *house) read(of callwright.OrgID, id string) pcm.Audio {
	h.t.Helper()
	file, err := h.Audio(h.t.Context(), of, id)
	if err != nil {
		h.t.Fatal(err)
	}
	defer file.Close()
	audio, err := pcm.ReadWAV(file, 1<<26)
	if err != nil {
		h.t.Fatal(err)
	}
	return audio
}

// clone makes a voice from a recording of three seconds.
func (h *house) clone(of callwright.OrgID, name string) speech.Voice {
	h.t.Helper()
	v, err := h.Clone(h.t.Context(), of, speech.CloneRequest{Name: name, Files: recordings("3s")})
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

func (h *house) total(of callwright.OrgID) int {
	h.t.Helper()
	list, err := h.Samples(h.t.Context(), of, speech.SampleQuery{Limit: 1})
	if err != nil {
		h.t.Fatal(err)
	}
	return list.Total
}

// wantError checks the code of an error and, unless field is empty, its field.
func wantError(t *testing.T, what string, err error, code callwright.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Code != code || field != "" && e.Field != field {
		t.Errorf("%s: error %v, want %s about %q", what, err, code, field)
	}
}

// recordings returns files for decoder. Each text is a duration, such as "3s".
func recordings(texts ...string) []io.ReadSeeker {
	var files []io.ReadSeeker
	for _, text := range texts {
		files = append(files, strings.NewReader(text))
	}
	return files
}

// decoder decodes a file that contains a duration, such as "3s", to a tone of this duration.
type decoder struct{}

func (decoder) Decode(_ context.Context, src io.ReadSeeker, limit time.Duration) (pcm.Audio, error) {
	text, err := io.ReadAll(src)
	if err != nil {
		return pcm.Audio{}, err
	}
	d, err := time.ParseDuration(string(text))
	switch {
	case err != nil:
		return pcm.Audio{}, callwright.Errorf(callwright.CodeUnsupportedMedia, "is no WAV, MP3 or Ogg file")
	case d > limit:
		return pcm.Audio{}, callwright.Errorf(callwright.CodePayloadTooLarge, "lasts longer than %v", limit)
	}
	samples := make([]int16, pcm.Samples(d, 8000))
	for i := range samples {
		samples[i] = int16(8000 * (1 - i%40/20*2)) // 200 Hz
	}
	return pcm.Audio{Rate: 8000, Channels: 1, Samples: samples}, nil
}

// blobs stores audio in memory.
type blobs struct {
	mu   sync.Mutex
	kept map[blobName][]byte
	fail error // error of StoreBlob
}

type blobName struct {
	org  callwright.OrgID
	name string
}

func (b *blobs) StoreBlob(_ context.Context, org callwright.OrgID, name string, r io.Reader, _ int64) error {
	raw, err := io.ReadAll(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err = errors.Join(err, b.fail); err == nil {
		b.kept[blobName{org, name}] = raw
	}
	return err
}

func (b *blobs) OpenBlob(_ context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	raw, ok := b.kept[blobName{org, name}]
	if !ok {
		return nil, callwright.NotFound("audio")
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader(raw), io.NopCloser(nil)}, nil
}

func (b *blobs) DeleteBlob(_ context.Context, org callwright.OrgID, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.kept, blobName{org, name})
	return nil
}

func (b *blobs) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.kept)
}

var _ tts.Engine = (*speechtest.Engine)(nil)

// sleep advances the bubble's clock by d, and waits for the work that falls due.
func (h *house) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
