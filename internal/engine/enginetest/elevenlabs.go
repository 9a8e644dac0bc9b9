package enginetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/callwright/callwright/speech/pcm"
)

// ElevenLabs is ElevenLabs' realtime transcription with commits by the client.
func ElevenLabs() Dialect { return &elevenLabs{} }

type elevenLabs struct {
	narrow
	uncommitted int // number of samples since the last commit
	throttled   bool
}

// leastCommit is the least audio that may be committed, in samples.
const leastCommit = 8000 * 3 / 10

func (*elevenLabs) Accept(r *http.Request, key string) bool {
	q := r.URL.Query()
	return r.Header.Get("Xi-Api-Key") == key && r.URL.Path == "/v1/speech-to-text/realtime" && q.Get("audio_format") == "ulaw_8000" && q.Get("commit_strategy") == "manual"
}

func (*elevenLabs) Greet() []string {
	return []string{`{"message_type":"session_started","session_id":"s","config":{"sample_rate":8000,"audio_format":"ulaw_8000"}}`}
}

func (e *elevenLabs) Hear(text bool, data []byte) ([]int16, Ask) {
	var m struct {
		Type   string `json:"message_type"`
		Audio  string `json:"audio_base_64"`
		Commit bool   `json:"commit"`
		Rate   int    `json:"sample_rate"`
	}
	if !text || json.Unmarshal(data, &m) != nil || m.Type != "input_audio_chunk" || m.Rate != 0 && m.Rate != 8000 {
		return nil, AskInvalid
	}
	raw, err := base64.StdEncoding.DecodeString(m.Audio)
	if err != nil {
		return nil, AskInvalid
	}
	e.uncommitted += len(raw)
	if !m.Commit {
		return pcm.FromMuLaw(nil, raw), AskNothing
	}
	e.throttled, e.uncommitted = e.uncommitted < leastCommit, 0
	return pcm.FromMuLaw(nil, raw), AskFinal
}

func (*elevenLabs) Partial(u Said) []string {
	return []string{fmt.Sprintf(`{"message_type":"partial_transcript","text":%q}`, u.Text)}
}

func (e *elevenLabs) Final(u Said) []string {
	if e.throttled {
		return []string{`{"message_type":"commit_throttled","error":"Commit request ignored"}`}
	}
	return []string{fmt.Sprintf(`{"message_type":"committed_transcript","text":%q}`, u.Text)}
}
