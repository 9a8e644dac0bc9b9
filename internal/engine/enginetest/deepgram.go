package enginetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/callwright/callwright/speech/pcm"
)

// typeOf returns the member "type" of a JSON object, or "" if there is none.
func typeOf(data []byte) string {
	var m struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(data, &m) // without a type, the message is unknown
	return m.Type
}

// narrow is the part that dialects with mu-law at 8 kHz share.
type narrow struct{}

// Rate returns 8000.
func (narrow) Rate() int { return 8000 }

// Greet returns no messages.
func (narrow) Greet() []string { return nil }

// DeepgramSegments is Deepgram's listen v1.
func DeepgramSegments() Dialect { return deepgramSegments{} }

type deepgramSegments struct{ narrow }

func (deepgramSegments) Accept(r *http.Request, key string) bool {
	q := r.URL.Query()
	return r.Header.Get("Authorization") == "Token "+key && r.URL.Path == "/v1/listen" && q.Get("encoding") == "mulaw" && q.Get("sample_rate") == "8000"
}

func (deepgramSegments) Hear(text bool, data []byte) ([]int16, Ask) {
	if !text {
		return pcm.FromMuLaw(nil, data), AskNothing
	}
	switch typeOf(data) {
	case "Finalize":
		return nil, AskFinal
	case "KeepAlive":
		return nil, AskNothing
	case "CloseStream":
		return nil, AskClose
	default:
		return nil, AskInvalid
	}
}

func (d deepgramSegments) Partial(u Said) []string {
	messages := []string{deepgramResults(u, false)}
	if !u.Begun {
		messages = append([]string{fmt.Sprintf(`{"type":"SpeechStarted","channel":[0],"timestamp":%v}`, u.From)}, messages...)
	}
	return messages
}

func (d deepgramSegments) Final(u Said) []string { return []string{deepgramResults(u, true)} }

// deepgramResults returns a Results message, which is final if it answers a Finalize.
func deepgramResults(u Said, final bool) string {
	var words []string
	for w := range strings.FieldsSeq(u.Text) {
		words = append(words, fmt.Sprintf(`{"word":%q,"punctuated_word":%q,"start":%v,"end":%v,"confidence":0.98}`, strings.ToLower(w), w, u.From, u.To))
	}
	return fmt.Sprintf(`{"type":"Results","channel_index":[0,1],"start":%v,"duration":%v,"is_final":%t,"speech_final":false,"from_finalize":%t,`+
		`"channel":{"alternatives":[{"transcript":%q,"confidence":0.98,"words":[%s]}]},`+
		`"metadata":{"request_id":"r","model_uuid":"m","model_info":{"name":"nova-3","version":"1","arch":"nova-3"}}}`,
		u.From, u.To-u.From, final, final, u.Text, strings.Join(words, ","))
}

// DeepgramTurns is Deepgram's listen v2.
func DeepgramTurns() Dialect { return deepgramTurns{force: true} }

// DeepgramTurnsWithoutForce is Deepgram's listen v2 without ForceEndTurn, which the service must enable. It ends a turn after a silence.
func DeepgramTurnsWithoutForce() Dialect { return &deepgramQuiet{} }

type deepgramTurns struct {
	narrow
	force bool
}

func (deepgramTurns) Accept(r *http.Request, key string) bool {
	q := r.URL.Query()
	return r.Header.Get("Authorization") == "Token "+key && r.URL.Path == "/v2/listen" && q.Get("encoding") == "mulaw" && q.Get("sample_rate") == "8000"
}

func (deepgramTurns) Greet() []string {
	return []string{`{"type":"Connected","request_id":"r","sequence_id":0}`}
}

func (d deepgramTurns) Hear(text bool, data []byte) ([]int16, Ask) {
	if !text {
		return pcm.FromMuLaw(nil, data), AskNothing
	}
	switch kind := typeOf(data); {
	case kind == "ForceEndTurn" && d.force:
		return nil, AskFinal
	case kind == "Configure":
		return nil, AskNothing
	case kind == "CloseStream":
		return nil, AskClose
	default:
		return nil, AskInvalid
	}
}

func (deepgramTurns) Partial(u Said) []string {
	messages := []string{deepgramTurn(u, "Update", 0.2), deepgramTurn(u, "EagerEndOfTurn", 0.4), deepgramTurn(u, "TurnResumed", 0.1), deepgramTurn(u, "Novelty", 0)}
	if !u.Begun {
		messages = append([]string{deepgramTurn(u, "StartOfTurn", 0)}, messages...)
	}
	return messages
}

// Final returns nothing for a turn without words, because the service has heard nothing that it could end.
func (deepgramTurns) Final(u Said) []string {
	if u.Text == "" {
		return nil
	}
	return []string{deepgramTurn(u, "EndOfTurn", 0.95)}
}

// deepgramTurn returns a TurnInfo message.
func deepgramTurn(u Said, event string, confidence float64) string {
	return fmt.Sprintf(`{"type":"TurnInfo","request_id":"r","sequence_id":1,"event":%q,"turn_index":%d,"audio_window_start":%v,"audio_window_end":%v,`+
		`"transcript":%q,"words":[{"word":"x","confidence":0.9}],"end_of_turn_confidence":%v}`, event, u.Number, u.From, u.To, u.Text, confidence)
}

type deepgramQuiet struct {
	deepgramTurns
	pause pause
}

// Hear ends a turn after a silence, and the session at a message that the service has not enabled.
func (d *deepgramQuiet) Hear(text bool, data []byte) ([]int16, Ask) {
	samples, ask := d.deepgramTurns.Hear(text, data)
	if ask == AskNothing && d.pause.after(samples, 8000) {
		ask = AskFinal
	}
	return samples, ask
}

// Refuse returns the message before the end of a session that has received an invalid message.
func (*deepgramQuiet) Refuse() string {
	return `{"type":"Error","sequence_id":2,"code":"UNPARSABLE_CLIENT_MESSAGE","description":"unknown variant ForceEndTurn"}`
}

// pause counts the silence at the end of audio.
type pause struct{ quiet, voiced int }

// pauseTime is the silence in milliseconds after which services end a turn.
const pauseTime = 800

// after reports whether the audio so far ends with a silence that ends a turn. It returns true once for each turn.
func (p *pause) after(samples []int16, rate int) bool {
	for _, s := range samples {
		if s > 500 || s < -500 {
			p.quiet, p.voiced = 0, p.voiced+1
		} else {
			p.quiet++
		}
	}
	if p.voiced == 0 || p.quiet < rate*pauseTime/1000 {
		return false
	}
	p.voiced = 0
	return true
}
