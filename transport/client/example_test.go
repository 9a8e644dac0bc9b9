package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// The example speaks with a pinned voice, and requests a voice that does not exist. Its server is a fake; for a real server, use
// client.FromEnv(os.Getenv).
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			_, _ = fmt.Fprint(w, `{"url":"https://audio.example.com/s-1","sample_id":"s-1"}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"data":null,"errors":[{"error":"NOT_FOUND","message":"voice not found"}]}`)
	}))
	defer server.Close()

	c, err := client.New(client.Config{BaseURL: server.URL, APIKey: "cwk_example", Voice: client.PinnedVoice("slt")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()

	speech, err := c.Speak(context.Background(), client.SpeakRequest{Text: "Your table is booked."})
	fmt.Println(speech.SampleID, speech.VoiceUsed, err)

	_, err = c.GetVoice(context.Background(), "Ines")
	fmt.Println(errors.Is(err, callwright.ErrNotFound), err)
	// Output:
	// s-1 slt <nil>
	// true GET /v1/voices/Ines: 404 NOT_FOUND: voice not found
}
