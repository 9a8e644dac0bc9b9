package elevenlabs

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/tts"
)

// BenchmarkReceive measures a message with 20 ms of audio and the places of two characters.
func BenchmarkReceive(b *testing.B) {
	data, err := json.Marshal(map[string]any{
		"contextId": "c1", "audio": base64.StdEncoding.EncodeToString(make([]byte, 160)), "isFinal": nil,
		"alignment": map[string]any{"chars": []string{"a", "b"}, "charStartTimesMs": []int{0, 10}, "charDurationsMs": []int{10, 10}},
	})
	if err != nil {
		b.Fatal(err)
	}
	p := newProtocol(tts.Request{Rate: 8000}, true)
	b.ReportAllocs()
	for b.Loop() {
		if e, err := p.Receive(session.Message{Text: true, Data: data}); err != nil || len(e.Audio) != 160 || len(e.Words) != 1 {
			b.Fatal(e, err)
		}
	}
}
