package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/speechapi"
)

// speechFakes holds the fake engine and the fake cloner. The engine's voices are ada, ben and cleo.
type speechFakes struct {
	engine speechtest.Engine
	cloner speechtest.Cloner
	voices speechstore.Voices
	blobs  audioShelf
	links  later // clock of the speech service
}

// later is a clock that is ahead of the system's.
type later struct{ by atomic.Int64 }

func (l *later) Now() time.Time { return time.Now().Add(time.Duration(l.by.Load())) }

// audioShelf stores audio. If lost is set, audio is not found; if cut is set, it cannot be read.
type audioShelf struct {
	speechstore.Blobs

	lost, cut atomic.Bool
}

// OpenBlob returns CodeNotFound if lost is set. If cut is set, the opened audio cannot be read.
func (s *audioShelf) OpenBlob(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	if s.lost.Load() {
		return nil, callwright.NotFound("audio")
	}
	file, err := s.Blobs.OpenBlob(ctx, org, name)
	if s.cut.Load() {
		file = cutFile{file}
	}
	return file, err
}

type cutFile struct{ io.ReadSeekCloser }

func (cutFile) Read([]byte) (int, error) { return 0, errors.New("the disk fails") }

// speech returns the service of speech. No worker does its durable work.
func (h *house) speech(work *memstore.Work) *speech.Service {
	h.voices = speechstore.Voices{Store: h.store}
	return must(speech.New(h.speechConfig(work)))
}

func (h *house) speechConfig(work *memstore.Work) speech.Config {
	return speech.Config{
		Engine: &h.engine, Cloner: &h.cloner, Decoder: audiofile.Decoder{}, Voices: h.voices, Samples: speechstore.Samples{Store: h.store},
		Blobs: &h.blobs, Atomic: h.store, Work: work, Key: callwright.Secret(strings.Repeat("k", 32)), Runtime: callwright.Runtime{Clock: &h.links, Logger: h.logger},
	}
}

// speakBy replaces the API with one that serves only speech, with a changed configuration.
func (h *house) speakBy(change func(*speech.Config)) {
	h.t.Helper()
	c := h.speechConfig(memstore.NewWork(h.store, nil))
	change(&c)
	service := must(speech.New(c))
	h.unchecked = must(httpapi.New(httpapi.Config{
		Access: h.access, Atomic: h.store, Idempotency: h.answers(), Runtime: callwright.Runtime{Logger: h.logger}, Voices: service,
		Areas: []httpapi.Area{speechapi.New(speechapi.Config{Speech: service, URL: publicURL})},
	}))
	h.Handler = contracttest.Handler(h.t, h.unchecked)
}

// send makes a request with the house's key, unless a header replaces it, and checks the answer against the contract.
func (h *house) send(method, target string, body io.Reader, headers ...header) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequestWithContext(context.Background(), method, target, body) // t.Context cannot be used in a synctest bubble
	r.Header.Set("Authorization", h.key)
	for _, one := range headers {
		r.Header.Del(one.name)
		if one.value != "" {
			r.Header.Set(one.name, one.value)
		}
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	keepsContract(h.t, r, answer)
	return answer
}

// sent checks the status of an answer and decodes its body.
func sent(t *testing.T, answer *httptest.ResponseRecorder, status int) (value map[string]any) {
	t.Helper()
	if answer.Code != status {
		t.Fatalf("got %d %.500s, want %d", answer.Code, answer.Body, status)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &value); err != nil {
		t.Fatalf("%v in %.500s", err, answer.Body)
	}
	return value
}

// spoken synthesizes a text. It returns the sample's id, and its link without the server's URL.
func (h *house) spoken(body string, headers ...header) (id, link string) {
	h.t.Helper()
	answer := h.want(http.StatusOK, "POST", "/v1/speak", body, headers...)
	id, _ = answer["sample_id"].(string)
	link, _ = answer["url"].(string)
	return id, strings.TrimPrefix(link, publicURL)
}

// clone posts a form that clones a voice, and returns the answer.
func (h *house) clone(parts ...part) *httptest.ResponseRecorder {
	h.t.Helper()
	body, contentType := form(parts...)
	return h.send("POST", "/v1/voices/clone", body, header{"Content-Type", contentType})
}

// aVoice returns a WAV file that the fake cloner accepts.
func aVoice() string { return recording(3 * time.Second) }

func recording(length time.Duration) string {
	audio := pcm.Audio{Rate: 8000, Channels: 1, Samples: make([]int16, pcm.Samples(length, 8000))}
	for i := range audio.Samples {
		audio.Samples[i] = int16(8000 * math.Sin(float64(i)*440*2*math.Pi/8000))
	}
	var file bytes.Buffer
	if err := pcm.WriteWAV(&file, audio); err != nil {
		panic(err)
	}
	return file.String()
}
