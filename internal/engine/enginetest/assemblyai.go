package enginetest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/callwright/callwright/speech/pcm"
)

// AssemblyAI is version 3 of AssemblyAI's streaming.
func AssemblyAI() Dialect { return assemblyAI{} }

type assemblyAI struct{ narrow }

func (assemblyAI) Accept(r *http.Request, key string) bool {
	q := r.URL.Query()
	return r.Header.Get("Authorization") == key && r.URL.Path == "/v3/ws" && q.Get("encoding") == "pcm_mulaw" && q.Get("sample_rate") == "8000"
}

func (assemblyAI) Greet() []string {
	return []string{`{"type":"Begin","id":"a1","expires_at":1800000000}`}
}

// Hear accepts audio of 50 to 1000 ms in a message, as the service does.
func (assemblyAI) Hear(text bool, data []byte) ([]int16, Ask) {
	if !text {
		if len(data) < 400 || len(data) > 8000 {
			return nil, AskInvalid
		}
		return pcm.FromMuLaw(nil, data), AskNothing
	}
	switch typeOf(data) {
	case "ForceEndpoint":
		return nil, AskFinal
	case "KeepAlive":
		return nil, AskNothing
	case "UpdateConfiguration":
		return nil, AskNothing
	case "Terminate":
		return nil, AskClose
	default:
		return nil, AskInvalid
	}
}

func (assemblyAI) Partial(u Said) []string {
	messages := []string{assemblyTurn(u, false, 0.1)}
	if !u.Begun {
		messages = append([]string{fmt.Sprintf(`{"type":"SpeechStarted","timestamp":%d}`, int(u.From*1000))}, messages...)
	}
	return messages
}

// Final returns nothing for a turn without words.
func (assemblyAI) Final(u Said) []string {
	if u.Text == "" {
		return nil
	}
	return []string{assemblyTurn(u, true, 0.95)}
}

// assemblyTurn returns a Turn message, in which the last word of a turn that has not ended is not final.
func assemblyTurn(u Said, end bool, confidence float64) string {
	var words []string
	all := strings.Fields(u.Text)
	for i, w := range all {
		words = append(words, fmt.Sprintf(`{"start":%d,"end":%d,"confidence":0.9,"text":%q,"word_is_final":%t}`,
			int(u.From*1000), int(u.To*1000), w, end || i < len(all)-1))
	}
	return fmt.Sprintf(`{"type":"Turn","turn_order":%d,"turn_is_formatted":false,"end_of_turn":%t,"transcript":%q,"end_of_turn_confidence":%v,"words":[%s]}`,
		u.Number, end, u.Text, confidence, strings.Join(words, ","))
}
