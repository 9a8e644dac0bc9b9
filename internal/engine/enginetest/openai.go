package enginetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/callwright/callwright/speech/pcm"
)

// OpenAI is OpenAI's realtime transcription, of which the fake sends the deltas while an utterance lasts, as some models do.
func OpenAI() Dialect { return &openAI{} }

type openAI struct {
	narrow
	sent  string // deltas of the current item
	empty bool   // whether the buffer is empty
}

func (*openAI) Accept(r *http.Request, key string) bool {
	q := r.URL.Query()
	return r.Header.Get("Authorization") == "Bearer "+key && r.URL.Path == "/v1/realtime" && (q.Get("intent") == "transcription" || q.Get("model") != "")
}

func (o *openAI) Greet() []string {
	o.empty = true
	return []string{`{"type":"session.created","session":{"type":"transcription"}}`}
}

func (o *openAI) Hear(text bool, data []byte) ([]int16, Ask) {
	var m struct {
		Type  string `json:"type"`
		Audio string `json:"audio"`
	}
	if !text || json.Unmarshal(data, &m) != nil {
		return nil, AskInvalid
	}
	switch m.Type {
	case "session.update":
		return nil, AskNothing
	case "input_audio_buffer.append":
		raw, err := base64.StdEncoding.DecodeString(m.Audio)
		if err != nil {
			return nil, AskInvalid
		}
		o.empty = o.empty && len(raw) == 0
		return pcm.FromMuLaw(nil, raw), AskNothing
	case "input_audio_buffer.commit":
		return nil, AskFinal
	default:
		return nil, AskInvalid
	}
}

// Partial returns the words that have been added, as a delta. The service never revises deltas.
func (o *openAI) Partial(u Said) []string {
	added, ok := strings.CutPrefix(u.Text, o.sent)
	if !ok || added == "" || strings.HasSuffix(u.Text, "other words") {
		return nil
	}
	o.sent = u.Text
	return []string{fmt.Sprintf(`{"type":"conversation.item.input_audio_transcription.delta","item_id":"i%d","content_index":0,"delta":%q}`, u.Number, added)}
}

func (o *openAI) Final(u Said) []string {
	if o.empty {
		return []string{`{"type":"error","error":{"type":"invalid_request_error","code":"input_audio_buffer_commit_empty","message":"buffer too small"}}`}
	}
	o.sent = ""
	return []string{
		fmt.Sprintf(`{"type":"input_audio_buffer.committed","item_id":"i%d","previous_item_id":null}`, u.Number),
		`{"type":"conversation.item.input_audio_transcription.delta","content_index":0,"delta":"without an item"}`,
		fmt.Sprintf(`{"type":"conversation.item.input_audio_transcription.completed","item_id":"i%d","content_index":0,"transcript":%q}`, u.Number, u.Text),
	}
}
