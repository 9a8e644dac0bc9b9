package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
)

// TestVoiceClients speaks a sentence with the clients that the vendors publish, against the fake with which the adapters are tested. A fake
// that differs from the vendor's own idea of its service would fail.
func TestVoiceClients(t *testing.T) {
	t.Parallel()
	const sentence, key = "Hello there.", "key-4711"
	for name, marks := range map[string]bool{"elevenlabs": true, "cartesia": true, "deepgram": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			voices := &enginetest.Voices{Key: key, TLS: true}
			server := voices.Serve(t)
			authority := filepath.Join(t.TempDir(), "authority.pem")
			certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			if err := os.WriteFile(authority, certificate, 0o600); err != nil {
				t.Fatal(err)
			}
			request, err := json.Marshal(map[string]string{"service": name, "url": server.URL, "key": key, "text": sentence})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
			defer cancel()
			client := exec.CommandContext(ctx, "node", filepath.Join("..", "tools", "engines", "voices.mjs"))
			client.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+authority)
			var complaints bytes.Buffer
			client.Stdin, client.Stderr = bytes.NewReader(request), &complaints
			out, err := client.Output()
			if err != nil {
				t.Fatalf("the client (scripts/install-deps.sh test installs it): %v\n%s", err, complaints.Bytes())
			}
			var got struct {
				Audio string   `json:"audio"`
				Words []string `json:"words"`
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			audio, err := base64.StdEncoding.DecodeString(got.Audio)
			if heard := enginetest.TextOfSigns(pcm.FromMuLaw(nil, audio)); err != nil || heard != sentence {
				t.Errorf("the client has heard %q, %v\n%s", heard, err, complaints.Bytes())
			}
			if words := strings.Join(got.Words, " "); marks && strings.ReplaceAll(words, " ", "") != strings.ReplaceAll(sentence, " ", "") {
				t.Errorf("the client has received the words %q", got.Words)
			}
		})
	}
}
