package server

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// longestRecording is the maximum length of a recording in samples.
const longestRecording = 60_000_000

// Get sends a GET request with the API key, and returns the status and the body. Without an answer, status is -1 and body is the error.
func (s *Server) Get(t testing.TB, path string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return -1, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return -1, err.Error()
	}
	return res.StatusCode, string(text)
}

// WebhookSecret returns the secret that signs the webhooks of the server's organization.
func (s *Server) WebhookSecret(t testing.TB) string {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(s.Data, "webhook-secret"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(secret))
}

// Metric returns the value of a metric without labels.
func (s *Server) Metric(t testing.TB, name string) float64 {
	t.Helper()
	status, body := s.Get(t, "/metrics")
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("metric %s: %v", name, err)
			}
			return value
		}
	}
	t.Fatalf("there is no metric %s in the answer %d", name, status)
	return 0
}

// Recording downloads the recording of a call, and returns both sides as mono audio.
func (s *Server) Recording(t testing.TB, callID string) (caller, agent pcm.Audio) {
	t.Helper()
	status, body := s.Get(t, "/v1/recordings/"+callID)
	if status != http.StatusOK {
		t.Fatalf("the recording answers %d: %s", status, body)
	}
	audio, err := pcm.ReadWAV(strings.NewReader(body), longestRecording)
	if err != nil {
		t.Fatal(err)
	}
	if audio.Channels != 2 {
		t.Fatalf("the recording has %d channels", audio.Channels)
	}
	side := func(n int) pcm.Audio { return pcm.Audio{Rate: audio.Rate, Channels: 1, Samples: audio.Channel(n)} }
	return side(0), side(1)
}
