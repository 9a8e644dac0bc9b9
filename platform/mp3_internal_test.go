package platform

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

// TestSpeechAsMP3 checks that the MP3 of a service that ignores the requested format is decoded and resampled. ffmpeg encodes the MP3.
func TestSpeechAsMP3(t *testing.T) {
	t.Parallel()
	const rate = 22050
	tone := make([]int16, rate)
	for i := range tone {
		tone[i] = int16(8000 * (1 - 2*(i/25%2)))
	}
	var wav bytes.Buffer
	if err := pcm.WriteWAV(&wav, pcm.Audio{Rate: rate, Channels: 1, Samples: tone}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.mp3")
	encode := exec.CommandContext(t.Context(), "ffmpeg", "-loglevel", "error", "-i", "pipe:0", "-b:a", "48k", path)
	encode.Stdin = &wav
	if out, err := encode.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg (apt-get install ffmpeg): %v %s", err, out)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = w.Write(file)
	}))
	t.Cleanup(server.Close)
	lc := fxtest.NewLifecycle(t)
	service, err := newService(lc, Config{TTS: "openai", LLMBaseURL: server.URL + "/v1", LLMModel: "m"}, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	lc.RequireStart()
	t.Cleanup(func() { lc.RequireStop() })
	heard, err := speechtest.Speak(t.Context(), service, tts.Request{Text: "Hello.", Rate: 8000})
	if err != nil || len(heard) < 7600 || len(heard) > 8800 || pcm.Loudness(heard) < -20 {
		t.Errorf("%d samples at %.1f dBFS, %v", len(heard), pcm.Loudness(heard), err)
	}
}
