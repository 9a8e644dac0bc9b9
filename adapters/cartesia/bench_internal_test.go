package cartesia

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/tts"
)

// BenchmarkReceive measures a message with 20 ms of audio.
func BenchmarkReceive(b *testing.B) {
	data, err := json.Marshal(map[string]any{
		"type": "chunk", "context_id": "c1", "data": base64.StdEncoding.EncodeToString(make([]byte, 160)), "done": false, "status_code": 206,
		"step_time": 12.5, "flush_id": 1,
	})
	if err != nil {
		b.Fatal(err)
	}
	p := (&Synthesizer{}).newProtocol(tts.Request{Rate: 8000}, true, 8000)
	b.ReportAllocs()
	for b.Loop() {
		if e, err := p.Receive(session.Message{Text: true, Data: data}); err != nil || len(e.Audio) != 160 {
			b.Fatal(e, err)
		}
	}
}
