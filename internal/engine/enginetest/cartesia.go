package enginetest

import (
	"fmt"
	"net/http"

	"github.com/callwright/callwright/speech/pcm"
)

// Cartesia is Cartesia's recognition with turns, which the service ends after a silence.
func Cartesia() Dialect { return &cartesia{} }

type cartesia struct {
	narrow
	pause pause
}

func (*cartesia) Accept(r *http.Request, key string) bool {
	q := r.URL.Query()
	return (r.Header.Get("X-Api-Key") == key || r.Header.Get("Authorization") == "Bearer "+key) && r.Header.Get("Cartesia-Version") != "" && r.URL.Path == "/stt/turns/websocket" &&
		q.Get("encoding") == "pcm_mulaw" && q.Get("sample_rate") == "8000" && q.Get("model") != ""
}

func (*cartesia) Greet() []string { return []string{`{"type":"connected","request_id":"r"}`} }

func (c *cartesia) Hear(text bool, data []byte) ([]int16, Ask) {
	if !text {
		samples := pcm.FromMuLaw(nil, data)
		if c.pause.after(samples, 8000) {
			return samples, AskFinal
		}
		return samples, AskNothing
	}
	switch typeOf(data) {
	case "config":
		return nil, AskNothing
	case "close":
		return nil, AskClose
	default:
		return nil, AskInvalid
	}
}

func (*cartesia) Partial(u Said) []string {
	messages := []string{cartesiaTurn(u, "update"), cartesiaTurn(u, "eager_end"), `{"type":"turn.resume","request_id":"r"}`}
	if !u.Begun {
		messages = append([]string{`{"type":"turn.start","request_id":"r"}`}, messages...)
	}
	return messages
}

// Final returns nothing if no turn has begun.
func (*cartesia) Final(u Said) []string {
	if u.Text == "" {
		return nil
	}
	return []string{cartesiaTurn(u, "end")}
}

// cartesiaTurn returns a message about a turn.
func cartesiaTurn(u Said, event string) string {
	return fmt.Sprintf(`{"type":"turn.%s","request_id":"r","transcript":%q}`, event, u.Text)
}
