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
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/speech/pcm"
)

// TestRecognizerClients recognizes a sentence with the clients that the vendors publish, against the fakes with which the adapters are
// tested. A fake that differs from the vendor's own idea of its service would fail.
func TestRecognizerClients(t *testing.T) {
	t.Parallel()
	const sentence = "Hello there."
	for name, dialect := range map[string]func() enginetest.Dialect{
		"deepgram v1": enginetest.DeepgramSegments, "deepgram v2": enginetest.DeepgramTurns, "openai": enginetest.OpenAI,
		"elevenlabs": enginetest.ElevenLabs, "assemblyai": enginetest.AssemblyAI, "cartesia": enginetest.Cartesia,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &enginetest.Engine{Dialect: dialect, Key: "k", TLS: true}
			server := e.Serve(t)
			authority := filepath.Join(t.TempDir(), "authority.pem")
			certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			if err := os.WriteFile(authority, certificate, 0o600); err != nil {
				t.Fatal(err)
			}
			request, err := json.Marshal(map[string]string{
				"service": name, "url": server.URL, "key": "k",
				"audio": base64.StdEncoding.EncodeToString(pcm.AppendMuLaw(nil, enginetest.Signs(sentence))),
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
			defer cancel()
			client := exec.CommandContext(ctx, "node", filepath.Join("..", "tools", "engines", "ears.mjs"))
			client.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+authority)
			var complaints bytes.Buffer
			client.Stdin, client.Stderr = bytes.NewReader(request), &complaints
			out, err := client.Output()
			if err != nil {
				t.Fatalf("the client (scripts/install-deps.sh test installs it): %v\n%s", err, complaints.Bytes())
			}
			var got struct {
				Partials []string `json:"partials"`
				Final    string   `json:"final"`
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			shorter := func(p string) bool { return p != "" && len(p) < len(sentence) && strings.HasPrefix(sentence, p) }
			if got.Final != sentence || !slices.ContainsFunc(got.Partials, shorter) || len(e.Invalid()) > 0 {
				t.Errorf("the client has received %+v, and the service does not know %q\n%s", got, e.Invalid(), complaints.Bytes())
			}
			t.Logf("%+v, %s", got, e.URLs()[0])
		})
	}
}
